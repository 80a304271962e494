import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { corpusFolder, hasCorpus } from '../test/support/corpus.ts';
import { longHandbook } from '../test/support/sample-texts.ts';

/** Returns a source of real English words in their real frequencies. It gives the same words in every run. */
export function createText(): (words: number) => string {
  const words = sourceText().match(/[\p{L}\p{N}]+/gu) ?? [];
  let state = 1;
  const next = (most: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
  return (count) => Array.from({ length: count }, () => words[next(words.length)]).join(' ');
}

/**
 * Returns passages of an encyclopedia if there is a corpus; otherwise invented text, which has fewer different words.
 */
function sourceText(): string {
  if (!hasCorpus()) return longHandbook();
  const lines = readFileSync(join(corpusFolder, 'ir/xquad-en/docs.jsonl'), 'utf8').trim().split('\n');
  return lines.map((line) => (JSON.parse(line) as { text: string }).text).join(' ');
}
