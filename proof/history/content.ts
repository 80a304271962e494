import { createHash } from 'node:crypto';
import { createRandom } from '../support/random.ts';
import type { Content } from './history.ts';

/** Returns text that is determined by the seed. The word of the seed occurs in it once. */
export function contentOf({ seed, bytes }: Pick<Content, 'seed' | 'bytes'>): Buffer {
  const random = createRandom(seed);
  const head = `${wordOf(seed)} `;
  const block = Array.from({ length: 64 }, () => (random.below(2 ** 31) + 2 ** 31).toString(36)).join(' ');
  return Buffer.from(head + `${block}\n`.repeat(Math.ceil(bytes / block.length) + 1)).subarray(0, Math.max(bytes, 20));
}

export function describeContent(seed: number, bytes: number): Content {
  const text = contentOf({ seed, bytes });
  return { seed, bytes: text.length, sha256: createHash('sha256').update(text).digest('hex') };
}

export function wordOf(seed: number): string {
  return `word${seed.toString(36)}`;
}
