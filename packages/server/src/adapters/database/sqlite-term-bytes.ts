import { repeatMark } from '../../extraction/extraction.ts';
import { longestWord, mostLength, mostRepeats } from './bm25.ts';

/*
 * What `sqlite-terms.ts` makes of words that are counted and in Latin-1, as most are: their terms in UTF-8 with the tag
 * of the collection, written byte by byte in one pass. As strings they would be checked, encoded, tagged and converted
 * one after the other, which takes several times as long.
 */
const mostCharacters = 65_536;
const codes = Buffer.allocUnsafeSlow(mostCharacters);
const longestTag = 24;
/** A character takes up to four bytes, and a tag may stand before every fourth. */
const terms = Buffer.allocUnsafeSlow(mostCharacters * (4 + Math.ceil(longestTag / 4)));

const kinds = { plain: 0, high: 1, parting: 2, refused: 3 } as const;
const kindOf = Uint8Array.from({ length: 256 }, (_, code) => kindOfCharacter(String.fromCharCode(code)));

/** As the expressions of `sqlite-terms.ts` tell characters apart. */
function kindOfCharacter(character: string): number {
  if (character === ' ' || character === '\0') return kinds.refused;
  if (/[a-z0-9]/.test(character)) return kinds.plain;
  return character >= '\u0083' ? kinds.high : kinds.parting;
}

const beyondLatin1 = /[^\0-\xff]/;
const blank = 0x20;
const [zero, nine] = [0x30, 0x39];
const mark = repeatMark.charCodeAt(0);
const hexadecimal = Buffer.from('0123456789abcdef');

export interface TermBytes {
  /** Good until the next are written. */
  readonly bytes: Uint8Array;
  /** Words, repeats counted. */
  readonly length: number;
}

/** @returns a function that gives the terms of words; undefined where they have to be looked at as strings */
export function createTermWriter(tag: string): (words: string) => TermBytes | undefined {
  const tagBytes = Buffer.from(tag);
  return (words) => {
    if (words.length >= mostCharacters || tagBytes.length > longestTag || beyondLatin1.test(words)) return undefined;
    const end = codes.write(words, 'latin1');
    // Stops whatever would go on.
    codes[end] = blank;
    let [written, length] = [0, 0];
    for (let at = 0; at < end; at += 1) {
      if (at > 0) terms[written++] = blank;
      for (let from = 0; from < tagBytes.length; from += 1) terms[written++] = tagBytes[from] ?? 0;
      const start = at;
      for (let code = codes[at] ?? 0; code !== mark; code = codes[++at] ?? 0) {
        if (kindOf[code] === kinds.plain) terms[written++] = code;
        else if (kindOf[code] === kinds.refused) return undefined;
        else written = putEncoded(code, written);
      }
      if (at === start || at - start > longestWord) return undefined;
      written = putHigh(mark, written);
      let times = 0;
      for (let code = codes[++at] ?? 0; code !== blank; code = codes[++at] ?? 0) {
        if (code < zero + (times === 0 ? 1 : 0) || code > nine || times > mostRepeats) return undefined;
        times = times * 10 + code - zero;
        terms[written++] = code;
      }
      if (times === 0 || times > mostRepeats) return undefined;
      length += times;
    }
    return length > mostLength ? undefined : { bytes: terms.subarray(0, written), length };
  };
}

function putHigh(code: number, at: number): number {
  terms[at] = 0xc0 | (code >> 6);
  terms[at + 1] = 0x80 | (code & 0x3f);
  return at + 2;
}

/** As `encodeWord` does. */
function putEncoded(code: number, at: number): number {
  if (kindOf[code] === kinds.high) return putHigh(code, at);
  const end = putHigh(0x80, at);
  terms[end] = hexadecimal[code >> 4] ?? 0;
  terms[end + 1] = hexadecimal[code & 0xf] ?? 0;
  return end + 2;
}
