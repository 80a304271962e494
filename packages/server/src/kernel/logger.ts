import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** One JSON object a line. Bodies, keys and credentials are never passed to it; the redaction is the second net. */
export function createLogger(level: LogLevel, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":${Date.now()}`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: [
        '*.authorization',
        '*.credentials',
        'authorization',
        'credentials',
        'headers.authorization',
        'req.headers',
      ],
      censor: '[secret]',
    },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
