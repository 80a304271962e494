import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { createJsonCache } from './json-cache.ts';

const kib = 1024;

function* piecesOf(count: number, bytes: number): Generator<string> {
  yield '[';
  for (let n = 0; n < count; n++) yield `${n === 0 ? '' : ','}${JSON.stringify(String(n).padEnd(bytes, '.'))}`;
  yield ']';
}

async function bytesOf(body: Buffer | (() => AsyncIterable<Buffer>)): Promise<Buffer> {
  return Buffer.isBuffer(body) ? body : Buffer.concat(await Array.fromAsync(body()));
}

test('a large list is built in slices of at most 128 KiB and one item, between which the event loop serves others', async () => {
  const slices: number[] = [];
  let iterations = 0;
  const count = () => {
    iterations += 1;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  const lists = createJsonCache({ onSlice: (bytes) => slices.push(bytes) });
  await lists.get('plugins', () => piecesOf(500, 20 * kib));
  clearImmediate(timer);
  assert.ok(Math.max(...slices) <= (128 + 21) * kib, `a slice of ${Math.max(...slices)} bytes`);
  assert.ok(slices.length >= 60 && iterations >= slices.length, `${slices.length} slices, ${iterations} turns`);
});

test('a list that is stored compressed has the same bytes, length and ETag as when it is stored uncompressed', async () => {
  const pieces = () => piecesOf(300, 5 * kib);
  const plain = await createJsonCache().get('plugins', pieces);
  const packed = await createJsonCache({ plainBytes: 100 * kib }).get('plugins', pieces);
  assert.ok(Buffer.isBuffer(plain.body) && !Buffer.isBuffer(packed.body));
  const bytes = await bytesOf(packed.body);
  assert.ok(bytes.equals(plain.body));
  assert.deepEqual([packed.length, packed.etag], [bytes.length, plain.etag]);
  assert.equal(packed.etag, `"${createHash('sha256').update(bytes).digest('base64url')}"`);
});

test('a list is built once for all callers, and the least recently requested lists are dropped', async () => {
  let built = 0;
  const lists = createJsonCache({ cacheBytes: 25 * kib });
  const pieces = () => {
    built += 1;
    return piecesOf(1, 10 * kib);
  };
  const [first, same] = await Promise.all([lists.get('a', pieces), lists.get('a', pieces)]);
  assert.equal(first, same);
  await lists.get('b', pieces);
  await lists.get('a', pieces);
  assert.equal(built, 2);
  await lists.get('c', pieces);
  await lists.get('a', pieces);
  assert.equal(built, 3, 'b was dropped');
  await lists.get('b', pieces);
  assert.equal(built, 4);
});

test('a list that cannot be built rejects for waiting callers and is built again at the next request', async () => {
  const lists = createJsonCache();
  const broken = function* (): Generator<string> {
    yield '[';
    throw new Error('no manifest');
  };
  await assert.rejects(lists.get('plugins', broken), /no manifest/);
  assert.equal(String((await lists.get('plugins', () => ['[]'])).body), '[]');
});
