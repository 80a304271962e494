import assert from 'node:assert/strict';
import { test } from 'node:test';
import { corpusFile, corpusTruths } from '../../../../../../test/support/corpus.ts';
import { decodeText } from './decode-text.ts';

test('every text of the corpus is decoded completely', () => {
  const known = corpusTruths('txt', /^exact/);
  const misread = known.filter(({ path, truth }) => {
    const { text } = decodeText(corpusFile(path));
    return (
      text.normalize('NFC') !==
      truth
        .replace(/^\ufeff/, '')
        .replace(/\r\n?/g, '\n')
        .normalize('NFC')
    );
  });
  assert.deepEqual(
    misread.map(({ path }) => path),
    [],
  );
});
