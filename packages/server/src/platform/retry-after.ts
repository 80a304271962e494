/** A date of HTTP (RFC 9110 §5.6.7) begins with the day of the week. `Date.parse` alone reads `-5` and `1.5` as dates. */
const dateStart = /^\s*(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? /;

/** Parses a `Retry-After` header with seconds or a date. @returns milliseconds; null for another value */
export function readRetryAfter(text: string | undefined, now = Date.now()): number | null {
  if (text === undefined) return null;
  if (/^\s*\d{1,9}\s*$/.test(text)) return Number(text) * 1000;
  const date = dateStart.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
