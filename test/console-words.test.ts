import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCodes } from '@quartermaster/contract';
import { codes } from '../packages/console/src/language/zh-codes.ts';
import { recordFailureCodes } from '../packages/server/src/collections/records/record-failures.ts';
import { extractionFailureCodes, rowCodes } from '../packages/server/src/extraction/extraction.ts';

test('every code of the service, and no other, has its sentence in the Chinese console', () => {
  const all = [errorCodes, rowCodes, extractionFailureCodes, recordFailureCodes].flatMap((table) => Object.keys(table));
  assert.deepEqual(Object.keys(codes).sort(), all.sort());
  for (const [code, sentence] of Object.entries(codes)) assert.match(sentence, /[。]|\{message\}$/, code);
});
