import { type DestinationStream, type Logger as PinoLogger, pino, stdSerializers } from 'pino';

export type Logger = PinoLogger;
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Creates a logger with one JSON object per line. Bodies, keys and credentials are never logged; the serializers are a second
 * safeguard.
 */
export function createLogger(level: LogLevel, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":${Date.now()}`,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: {
      err: stdSerializers.err,
      authorization: () => '[secret]',
      credentials: () => '[secret]',
      headers: () => '[left out]',
    },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
