/**
 * Returns a name that a user chose as one line in one reading order: with a space for each line break or tab, and U+FFFD for each
 * other control character and each character that overrides the direction of the text. Names in Arabic and Hebrew keep their marks.
 */
export function plainName(text: string): string {
  return text.replace(/[\t-\r\u0085\u2028\u2029]/g, ' ').replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
}

/**
 * Replaces invisible characters of a text from outside that change its reading order or hide words in it. Texts in Arabic and
 * Hebrew keep their marks, and emoji and Persian keep their joiners.
 */
export function withoutHiddenCharacters(text: string): string {
  return text.replace(hidden, '\ufffd');
}

/** Returns a text of others on one line, without characters that hide words or change the order of those around it. */
export function shownText(text: string): string {
  return plainName(withoutHiddenCharacters(text));
}

/** Cuts a text between two characters as people see them. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const { index = 0 } = graphemes.segment(text.slice(0, most + 64)).containing(most) ?? {};
  return (index === 0 ? text.slice(0, most) : text.slice(0, index)).toWellFormed();
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const hidden =
  /[\u00ad\u061c\u115f\u1160\u180e\u200b\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
