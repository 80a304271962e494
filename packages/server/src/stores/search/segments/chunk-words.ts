import { frequencySeparator } from '../analysis/tokenizer.ts';
import { longestWord } from './index-words.ts';

/** The terms of one chunk, in place: term n is in `bytes` from `starts[n]` to before `ends[n]`. */
export interface WordReader {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly times: Int32Array;
  /**
   * Reads the words of a chunk: separated by spaces, each followed by its frequency unless that is 1. A word may repeat.
   * @returns the number of terms; -1 when a word may have to be changed before it is a term
   */
  read(words: string): number;
}

const bytesPerUnit = 3;
const space = 0x20;
const zero = 0x30;
const mostDigits = 9;
const encoder = new TextEncoder();
const [markLead = 0, markEnd = 0] = encoder.encode(frequencySeparator);

/** Reads the words of one chunk after another into the same arrays. */
export function createWordReader(): WordReader {
  let bytes = new Uint8Array(0);
  let starts = new Int32Array(0);
  let ends = new Int32Array(0);
  let times = new Int32Array(0);

  function reserve(characters: number): void {
    if (bytes.length >= bytesPerUnit * characters) return;
    const size = 2 * characters;
    bytes = new Uint8Array(bytesPerUnit * size);
    // At most every second character begins a word.
    [starts, ends, times] = [new Int32Array(size), new Int32Array(size), new Int32Array(size)];
  }
  return {
    get bytes() {
      return bytes;
    },
    get starts() {
      return starts;
    },
    get ends() {
      return ends;
    },
    get times() {
      return times;
    },
    read(words) {
      if (!words.isWellFormed() || words.includes('\0')) return -1;
      reserve(words.length);
      const { written: length } = encoder.encodeInto(words, bytes);
      let count = 0;
      for (let from = 0; from < length; ) {
        let mark = -1;
        let end = from;
        for (; end < length && bytes[end] !== space; end++) {
          if (bytes[end] === markEnd && bytes[end - 1] === markLead) mark = end - 1;
        }
        const repeats = mark > from ? readFrequency(bytes, mark + 2, end) : 0;
        const endOfTerm = repeats === 0 ? end : mark;
        if (endOfTerm - from > longestWord) return -1;
        if (endOfTerm > from) {
          starts[count] = from;
          ends[count] = endOfTerm;
          times[count] = Math.max(repeats, 1);
          count++;
        }
        from = end + 1;
      }
      return count;
    },
  };
}

/** Reads the whole number from 1 on that these bytes spell. Returns 0 when there is none. */
function readFrequency(bytes: Uint8Array, from: number, to: number): number {
  if (to - from > mostDigits) return 0;
  let number = 0;
  for (let at = from; at < to; at++) {
    const digit = (bytes[at] as number) - zero;
    if (digit < 0 || digit > 9 || (digit === 0 && at === from)) return 0;
    number = number * 10 + digit;
  }
  return number;
}
