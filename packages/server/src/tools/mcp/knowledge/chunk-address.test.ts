import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consolePage, readAddress, writeAddress } from './chunk-address.ts';

const [collection, record, chunk] = ['coll', 'rcrd', 'chnk'].map((prefix) => `${prefix}${'a1'.repeat(10)}`);
const base = `quartermaster://collections/${collection}`;

test('parsing an address returns the values from which it was created', () => {
  for (const address of [
    `${base}/records/${record}`,
    `${base}/records/${record}?after=${chunk}`,
    `${base}/records/${record}?after=${chunk}&offset=20`,
    `${base}/records/${record}?offset=20`,
    `${base}/chunks/${chunk}?offset=1`,
  ]) {
    assert.equal(writeAddress(readAddress(address)), address);
  }
});

test('any other text is reported as not found', () => {
  for (const text of [
    '',
    chunk,
    `${base}/chunks/${chunk}?after=${chunk}`,
    `${base}/chunks/${chunk}@-1`,
    `${base}/chunks/${chunk}?offset=-1`,
    `${base}/chunks/${chunk}?offset=9e99`,
    `${base}/chunks/${chunk}?offset=99999999`,
    `${base}/chunks/${chunk}#x`,
    `${base}/chunks/${chunk}/..`,
    `${base}/chunks/..%2f${chunk}`,
    `${base.replace('quartermaster', 'QUARTERMASTER')}/chunks/${chunk}`,
    `quartermaster://user@collections/${collection}/chunks/${chunk}`,
    `${base}/chunks/${chunk}\n`,
    `${base}/chunks/${chunk}${'x'.repeat(10_000)}`,
    `file:///etc/passwd`,
  ]) {
    assert.throws(() => readAddress(text ?? ''), { code: 'OBJECT_NOT_FOUND' }, text);
  }
});

test('the page of a chunk names its project, and ends in the chunk', () => {
  const place = { projectId: 'p', collectionId: 'c', recordId: 'r', chunkId: 'k' };
  assert.equal(consolePage('https://x.test/', place), 'https://x.test/collections/c/records/r?project=p#k');
  assert.equal(consolePage('https://x.test', { ...place, recordId: null }), 'https://x.test/collections/c?project=p');
});
