import { readFileSync } from 'node:fs';

/** Words of real English in their real frequencies, the same in every run. */
export function createText(): (words: number) => string {
  const file = new URL('../../shared/corpus/ir/xquad-en/docs.jsonl', import.meta.url);
  const words = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .flatMap((line) => (JSON.parse(line) as { text: string }).text.match(/[\p{L}\p{N}]+/gu) ?? []);
  let state = 1;
  const next = (most: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
  return (count) => Array.from({ length: count }, () => words[next(words.length)]).join(' ');
}
