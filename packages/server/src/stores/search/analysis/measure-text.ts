import { setImmediate } from 'node:timers/promises';
import { addWords } from './tokenizer.ts';

/**
 * Counts the tokens of a text like `stores/extraction/tokens.ts`. Returns a promise while the token table is loading.
 */
export type CountTokens = (text: string) => number | Promise<number>;

export interface MeasuredText {
  readonly numTokens: number;
  /** The folded words with their frequencies, in order of first occurrence. */
  readonly words: ReadonlyMap<string, number>;
}

/** A slice of this many characters takes up to 10 ms, whatever it contains. */
const sliceLength = 4_000;

/**
 * Counts tokens and words without blocking the event loop. Long texts are processed in slices with a pause after each.
 */
export async function measureText(text: string, countTokens: CountTokens): Promise<MeasuredText> {
  let numTokens = 0;
  const words = new Map<string, number>();
  for (const slice of slices(text)) {
    if (slice.length < text.length) await setImmediate();
    numTokens += await countTokens(slice);
    addWords(words, slice);
  }
  return { numTokens, words };
}

/** Cuts before whitespace if possible, otherwise after punctuation, otherwise between two characters. */
function* slices(text: string): Generator<string> {
  let start = 0;
  while (text.length - start > sliceLength) {
    const slice = text.slice(start, start + sliceLength);
    const end = start + wordEnd(slice);
    yield text.slice(start, end);
    start = end;
  }
  yield text.slice(start);
}

function wordEnd(slice: string): number {
  const blank = slice.search(/\s\S*$/u);
  if (blank > sliceLength / 2) return blank;
  const mark = slice.search(/\p{P}[^\p{P}]*$/u);
  if (mark > sliceLength / 2) return mark + 1;
  const last = slice.charCodeAt(slice.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? slice.length - 1 : slice.length;
}
