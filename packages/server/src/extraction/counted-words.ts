import { findAsciiWords } from './ascii-words.ts';
import { createCodeBuffer } from './code-buffer.ts';
import { repeatMark } from './extraction.ts';
import { createPieceTable } from './piece-table.ts';
import { createTally, type Term } from './tally.ts';
import { cutWords, finishWord } from './words.ts';

/** Pieces of text whose terms are remembered. */
const mostMet = 16_384;
const buffer = createCodeBuffer();
const tally = createTally();
const termInAscii = createTerms((cut) => finishWord(cut.toLowerCase()));
const termOfWord = createTerms((word) => word);

/**
 * The words that `cutWords` finds in a text, each once with the times it occurs, as `ExtractedChunk.words` has them.
 * What becomes of a word is remembered, so that text of ASCII alone needs no string for each.
 */
export function countWords(text: string): string {
  tally.begin();
  if (buffer.put(text)) {
    const codes = { codes: buffer.codes, length: text.length };
    findAsciiWords(codes, (start, end) => tally.add(termInAscii(text, start, end)));
  } else {
    for (const word of cutWords(text)) {
      buffer.put(word);
      tally.add(termOfWord(word, 0, word.length));
    }
  }
  return tally.terms().map(written).join(' ');
}

function written({ word, once }: Term, place: number): string {
  const times = tally.times(place);
  return times === 1 ? once : `${word}${repeatMark}${times}`;
}

/** The terms of the pieces of text met last; the text is in the buffer. */
function createTerms(finish: (piece: string) => string): (text: string, start: number, end: number) => Term {
  const met = createPieceTable(mostMet);
  const terms: Array<Term | undefined> = Array.from({ length: mostMet });
  return (text, start, end) => {
    const slot = met.find(buffer.codes, start, end);
    const known = slot !== undefined && slot >= 0 ? terms[slot] : undefined;
    if (known !== undefined) return known;
    const term = toTerm(finish(text.slice(start, end)));
    if (slot !== undefined) terms[slot < 0 ? ~slot : slot] = term;
    return term;
  };
}

function toTerm(word: string): Term {
  // FNV-1a.
  let hash = -2128831035;
  for (let at = 0; at < word.length; at += 1) hash = Math.imul(hash ^ word.charCodeAt(at), 16777619);
  return { word, hash: hash ^ (hash >>> 15), once: `${word}${repeatMark}1` };
}
