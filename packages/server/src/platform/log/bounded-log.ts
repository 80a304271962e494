/** A log for lines that callers can cause at any rate. */
export interface BoundedLog {
  /**
   * Writes a warning unless this minute's limit is reached. The number of omitted lines is logged with the next line, or at the end
   * of the minute.
   */
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}

const minute = 60_000;

export function createBoundedLog(logger: BoundedLog, mostInMinute: number, now = Date.now): BoundedLog {
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
      // A clock that was set back starts a new window too.
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
      // Unreferenced, so the process may end before it; the metrics count all requests.
      summary ??= setTimeout(() => write({ event: fields.event }, message), windowStart + minute - at).unref();
    },
  };
}
