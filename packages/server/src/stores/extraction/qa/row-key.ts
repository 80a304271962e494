import { hash } from 'node:crypto';

/**
 * Returns a digest of 128 bits that identifies a row across uploads. It depends on the id if there is one, otherwise on
 * the question, ignoring case, width and blanks.
 */
export function rowKeyOf(question: string, id: string): string {
  const name = id === '' ? `q:${fold(question)}` : `id:${id.normalize('NFKC').trim()}`;
  return hash('sha256', name, 'base64url').slice(0, 22);
}

const ascii = /^[\0-\x7f]*$/;

/** Matches blanks other than a single space. Testing is faster than replacing every blank. */
const unusualBlank = /\s\s|[^\S ]/;

/** Converts to upper case first, because letters such as ß and ς have several lower-case forms. */
function fold(text: string): string {
  const folded = ascii.test(text)
    ? text.toLowerCase()
    : text.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
  return (unusualBlank.test(folded) ? folded.replace(/\s+/g, ' ') : folded).trim();
}
