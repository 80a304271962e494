import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { corpusLines } from '../../../../../../test/support/corpus.ts';
import { countTokens } from '../../extraction/tokens.ts';
import { joinFrequencies, tokenize } from './tokenizer.ts';

/** Returns the terms of a text without regard to its language. */
function countTerms(text: string): string {
  const frequencies = new Map<string, number>();
  for (const term of tokenize(text)) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  return joinFrequencies(frequencies);
}

/** Stored indexes hold these terms (ADR 0135). A change needs a new version of the analysis. */
const before = '7e95b9eb99bc42df240fe2d5403dca5a3a3e72b3813b104484dd485fb528b6d7';

test('the lines of the corpus keep their terms, frequencies and numbers of tokens', () => {
  const lines = corpusLines(['qa', 'txt', 'md', 'csv']);
  assert.equal(lines.length, 94_827, 'the corpus itself has changed: compute the digest again');
  const hash = createHash('sha256');
  for (const line of lines) hash.update(`${countTerms(line)}\n${countTokens(line)}\n`);
  assert.equal(hash.digest('hex'), before);
});
