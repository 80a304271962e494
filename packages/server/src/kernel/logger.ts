import { type DestinationStream, type Logger as PinoLogger, pino, stdSerializers, symbols } from 'pino';

export type Logger = PinoLogger;
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** One JSON object a line. Bodies, keys and credentials are never passed to it; the serializers are the second net. */
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

/**
 * Where the logger writes its lines, or null when it writes none of level info. For the one line that every request
 * costs: built from prepared parts it takes a fraction of what it takes by way of the logger.
 */
export function infoLines(logger: Logger): DestinationStream | null {
  if (!logger.isLevelEnabled('info')) return null;
  // pino keeps its stream under a symbol that it documents but does not type.
  return (logger as unknown as Record<symbol, DestinationStream>)[symbols.streamSym] ?? null;
}
