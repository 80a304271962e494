import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A pair in the sheets of the benches: 26 words, about 150 bytes. */
export type Pair = readonly [question: string, answer: string];

/** The words of our documentation: English prose with names and numbers. */
const words = readdirSync('docs', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.md'))
  .sort()
  .flatMap((path) => readFileSync(join('docs', path), 'utf8').match(/[\p{L}\p{N}'-]+/gu) ?? []);

/** The numbers of words in the two parts of a pair. */
export interface PairLengths {
  readonly question: number;
  readonly answer: number;
}
const short: PairLengths = { question: 7, answer: 18 };

/** Yields the same pairs in every run. */
export function* pairs(count: number, { question, answer } = short): Generator<Pair> {
  const random = createRandom();
  const some = (most: number) => {
    const from = Math.floor(random() * (words.length - most));
    return words.slice(from, from + most).join(' ');
  };
  for (let n = 0; n < count; n++) yield [`${some(question)} ${n}?`, `${some(answer)}.`];
}

export function* csv(count: number): Generator<string> {
  yield 'question,answer\n';
  for (const [question, answer] of pairs(count)) yield `${question},${answer}\n`;
}

/** mulberry32: a small generator with the same numbers on every machine. */
function createRandom(): () => number {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
