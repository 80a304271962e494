import { MalformedBatch } from './extraction.ts';

/*
 * Chunks on their way from the child to the database, as bytes: the event loop passes them on without reading them out
 * (ADR 0056). First numbers of 32 bits: how many chunks, whether the text is UTF-16 (otherwise Latin-1), and for each
 * chunk its `numbers`; then the texts of all chunks, one after the other. Both ends are of this machine and this version.
 * What a child has packed is checked here before any of it is believed.
 */
export const head = 2;
/** Of each chunk: two numbers, where the answer of a pair begins, and how long its texts are; -1 where there is none. */
export const numbers = {
  ordinal: 0,
  numTokens: 1,
  answer: 2,
  content: 3,
  words: 4,
  metadata: 5,
  locator: 6,
  rowKey: 7,
} as const;
export const perChunk = Object.keys(numbers).length;
const bytesPerNumber = Int32Array.BYTES_PER_ELEMENT;

/**
 * What one transaction writes: other writers wait as long as it takes, some 50 ms for so many (ADR 0047). Characters of
 * words, and of all texts. A chunk with more of them goes alone.
 */
export const batchLimits = { chunks: 1_000, words: 300_000, characters: 900_000 } as const;

export interface BatchTable {
  readonly table: Int32Array;
  /** Chunks. */
  readonly count: number;
  readonly isWide: boolean;
}

/** The numbers. @throws MalformedBatch when they do not fit together, or not to the bytes, or are too many. */
export function openTable(packed: Uint8Array): BatchTable {
  const most = Math.floor(packed.length / bytesPerNumber);
  const all = new Int32Array(packed.buffer, packed.byteOffset, most);
  const [count = 0, wide = 0] = all;
  const length = head + count * perChunk;
  if (count < 1 || count > batchLimits.chunks || length > most || (wide !== 0 && wide !== 1)) refuse('no batch');
  const table = all.subarray(0, length);
  const { words, characters } = measure(table);
  if (length * bytesPerNumber + characters * (wide + 1) !== packed.length) refuse('its texts are cut off');
  const isLarge = words > batchLimits.words || characters > batchLimits.characters;
  if (isLarge && count > 1) refuse('it is too large');
  return { table, count, isWide: wide === 1 };
}

function measure(table: Int32Array): { words: number; characters: number } {
  let [words, characters, last] = [0, 0, -1];
  for (let at = head; at < table.length; at += perChunk) {
    const ordinal = numberAt(table, at + numbers.ordinal);
    const answer = numberAt(table, at + numbers.answer);
    const content = numberAt(table, at + numbers.content);
    if (ordinal <= last || numberAt(table, at + numbers.numTokens) < 0) refuse('its numbers are no order');
    if (answer < -1 || answer > content) refuse('an answer is not within its content');
    for (let text: number = numbers.content; text < perChunk; text += 1) {
      const length = numberAt(table, at + text);
      if (length < (text < numbers.locator ? 0 : -1)) refuse('a text has no length');
      characters += Math.max(0, length);
    }
    words += numberAt(table, at + numbers.words);
    last = ordinal;
  }
  return { words, characters };
}

export function numberAt(table: Int32Array, at: number): number {
  return table[at] ?? -2;
}

export function refuse(why: string): never {
  throw new MalformedBatch(`not a batch of chunks: ${why}`);
}
