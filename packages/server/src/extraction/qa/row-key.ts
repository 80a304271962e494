import { hash } from 'node:crypto';

/**
 * What makes a row the same row in another upload: its id when it has one, otherwise its question, whatever its case,
 * width and blanks. A digest of 128 bits.
 */
export function rowKeyOf(question: string, id: string): string {
  const name = id === '' ? `q:${fold(question)}` : `id:${id.normalize('NFKC').trim()}`;
  return hash('sha256', name, 'base64url').slice(0, 22);
}

const ascii = /^[\0-\x7f]*$/;

/** Blanks that are more or other than one space: to put a space for each takes longer than to look. */
const unusualBlank = /\s\s|[^\S ]/;

/** Upper case first: letters such as ß and ς have more than one small form. */
function fold(text: string): string {
  const folded = ascii.test(text)
    ? text.toLowerCase()
    : text.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
  return (unusualBlank.test(folded) ? folded.replace(/\s+/g, ' ') : folded).trim();
}
