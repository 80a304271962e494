import type { Logger } from './logger.ts';

/** Lines of the log that callers can cause as often as they like. */
export interface BoundedLog {
  /**
   * Writes a warning, unless too many were written in this minute. The next line says how many were left out; at the end of
   * the minute a line of its own does.
   */
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}

const minute = 60_000;

export function createBoundedLog(logger: Pick<Logger, 'warn'>, mostInMinute: number, now = Date.now): BoundedLog {
  let windowStart = Number.NEGATIVE_INFINITY;
  let written = 0;
  let leftOut = 0;
  let summary: NodeJS.Timeout | undefined;

  function write(fields: Readonly<Record<string, unknown>>, message: string): void {
    clearTimeout(summary);
    summary = undefined;
    logger.warn(leftOut === 0 ? fields : { ...fields, left_out: leftOut }, message);
    leftOut = 0;
  }

  return {
    warn: (fields, message) => {
      const at = now();
      // A clock that was set back begins a new window as well.
      if (at - windowStart >= minute || at < windowStart) {
        windowStart = at;
        written = 0;
      }
      if (written < mostInMinute) {
        write(fields, message);
        written += 1;
        return;
      }
      leftOut += 1;
      // Not awaited at the end of the process: the metrics count all requests.
      summary ??= setTimeout(() => write({ event: fields.event }, message), windowStart + minute - at).unref();
    },
  };
}
