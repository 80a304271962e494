/** Parses a `Retry-After` header with seconds or a date. @returns milliseconds; null for another value */
export function readRetryAfter(text: string | undefined, now = Date.now()): number | null {
  if (text === undefined) return null;
  if (/^\s*\d{1,9}\s*$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
