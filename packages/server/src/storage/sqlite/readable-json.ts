/** An escape of JSON. A valid surrogate pair is never escaped. */
const escapes = /\\(u(?:0000|d[89a-f][0-9a-f]{2})|.)/g;

/**
 * Returns stored JSON with U+FFFD for each U+0000 and each half of a surrogate pair, as PostgreSQL reads it. SQLite counts
 * the characters of a text up to U+0000 only, so that conditions would see a part of the text.
 */
export function readableJson(json: string): string {
  return json.replace(escapes, (written, rest: string) => (rest.length > 1 ? '\ufffd' : written));
}
