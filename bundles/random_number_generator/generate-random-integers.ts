import type { Handler } from '@quartermaster/plugin-kit';

interface Input {
  readonly min: number;
  readonly max: number;
  readonly number: number;
}

const wordCount = 2n ** 64n;

export const run: Handler<Input, { result: number[] }> = ({ min, max, number }, context) => {
  if (min > max) return context.reject(`min (${min}) must not be larger than max (${max}).`);
  const size = BigInt(max) - BigInt(min) + 1n;
  return { result: Array.from({ length: number }, () => Number(BigInt(min) + draw(size))) };
};

/** A whole number from 0 to size - 1. Words beyond the last whole multiple of `size` are drawn again: no bias. */
function draw(size: bigint): bigint {
  const limit = wordCount - (wordCount % size);
  const words = new BigUint64Array(1);
  for (;;) {
    const [word = 0n] = crypto.getRandomValues(words);
    if (word < limit) return word % size;
  }
}
