/** What a `Retry-After` asks for, in milliseconds: it holds seconds or a date. null when it says neither. */
export function readRetryAfter(text: string | undefined, now = Date.now()): number | null {
  if (text === undefined) return null;
  if (/^\s*\d{1,9}\s*$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
