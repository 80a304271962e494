import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPartsUpload, type PartsUploadDeps } from './parts-upload.ts';
import { bodyOfStaged, bodyOfText } from './s3-bodies.ts';

const megabytes = (count: number) => count * 2 ** 20;

/** Records the parts in the order of their arrival. `put` decides how long each takes and whether it fails. */
function uploadTo(put: (part: number, signal: AbortSignal) => Promise<void>, own: Partial<PartsUploadDeps> = {}) {
  const arrived: number[] = [];
  const joined: string[] = [];
  const calls: string[] = [];
  const objects: PartsUploadDeps['objects'] = {
    beginParts: async () => 'id',
    async putPart(_key, { number, signal }) {
      await put(number, signal);
      arrived.push(number);
      return `etag ${number}`;
    },
    completeParts: async (_key, { etags }) => void joined.push(...etags),
    abortParts: async () => void calls.push('abort'),
  };
  const intend = async () => void calls.push('intend');
  const renew = async () => void calls.push('renew');
  const bodyOf = async () => bodyOfText('part');
  return { upload: createPartsUpload({ objects, key: 'key', bodyOf, intend, renew, ...own }), arrived, joined, calls };
}

const passTicks = async (count: number) => {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
};

test('two parts are on their way at the same time, and they are joined in their order', async () => {
  let [inFlight, most] = [0, 0];
  const { upload, arrived, joined, calls } = uploadTo(async (part) => {
    most = Math.max(most, ++inFlight);
    await passTicks(part === 1 ? 50 : 1);
    inFlight -= 1;
  });
  upload.grown(megabytes(24.5));
  await passTicks(20);
  assert.deepEqual([arrived, joined], [[2, 3], []]);
  await upload.finish(megabytes(33));
  assert.deepEqual([most, arrived.at(-1)], [2, 1]);
  assert.deepEqual(joined, ['etag 1', 'etag 2', 'etag 3', 'etag 4', 'etag 5']);
  assert.deepEqual(calls, ['intend']);
});

test('an upload of any size has at most two blocks of 256 KiB in memory', async () => {
  let [held, most, sent] = [0, 0, 0];
  const read = async (_position: number, length: number, buffer: Buffer = Buffer.alloc(length)) =>
    buffer.subarray(0, length);
  const objects: PartsUploadDeps['objects'] = {
    beginParts: async () => 'id',
    async putPart(_key, { body }) {
      for await (const piece of body.open() as AsyncIterable<Buffer>) {
        held += piece.buffer.byteLength;
        most = Math.max(most, held);
        await passTicks(1);
        held -= piece.buffer.byteLength;
        sent += piece.length;
      }
      return 'etag';
    },
    completeParts: async () => undefined,
    abortParts: async () => undefined,
  };
  const intent = { intend: async () => undefined, renew: async () => undefined };
  const bodyOf: PartsUploadDeps['bodyOf'] = (range) => bodyOfStaged(read, range);
  const upload = createPartsUpload({ objects, key: 'key', bodyOf, ...intent });
  upload.grown(megabytes(40));
  await upload.finish(megabytes(41));
  assert.deepEqual([most, sent], [2 * 256 * 1024, megabytes(41)]);
});

test('a part that fails is sent again when more bytes have arrived, and at the end', async () => {
  let failures = 0;
  const { upload, arrived, joined } = uploadTo(async (part) => {
    if (part === 1 && ++failures <= 2) throw new Error('no answer');
  });
  for (const size of [16, 17, 24]) {
    upload.grown(megabytes(size));
    await passTicks(10);
  }
  assert.deepEqual([failures, arrived], [2, [2, 3]]);
  await upload.finish(megabytes(24));
  assert.deepEqual([arrived, joined.length], [[2, 3, 1], 3]);
});

test('an upload whose part fails at its end is not completed', async () => {
  const { upload, joined } = uploadTo(async (part) => {
    if (part === 2) throw new Error('no answer');
  });
  await assert.rejects(upload.finish(megabytes(24)), /no answer/);
  assert.deepEqual(joined, []);
});

test('an abort ends the requests before it resolves, and sends no part afterwards', async () => {
  const { upload, arrived, calls } = uploadTo(
    (_part, signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  );
  upload.grown(megabytes(40));
  await passTicks(5);
  await upload.abort();
  upload.grown(megabytes(48));
  await passTicks(5);
  assert.deepEqual([arrived, calls], [[], ['intend', 'abort']]);
});

test('the intent of an upload that takes long is renewed while bytes arrive slowly and after each part', async () => {
  const slow = uploadTo(async () => undefined, { renewEvery: 0 });
  slow.upload.grown(megabytes(7));
  assert.deepEqual(slow.calls, []);
  slow.upload.grown(megabytes(16));
  await passTicks(5);
  const sent = slow.calls.length;
  slow.upload.grown(megabytes(17));
  assert.ok(sent >= 3 && slow.calls.length === sent + 1, slow.calls.join());
  assert.ok(slow.calls.slice(1).every((call) => call === 'renew'));
});

test('a large range of staged bytes is read through one buffer, and a small one once', async () => {
  const content = Buffer.alloc(megabytes(1) + 7, 'quartermaster');
  const buffers: Array<Buffer | undefined> = [];
  const read = async (position: number, length: number, buffer?: Buffer) => {
    buffers.push(buffer);
    const found = content.subarray(position, position + length);
    if (buffer === undefined) return found;
    return buffer.subarray(0, found.copy(buffer));
  };
  const body = await bodyOfStaged(read, { start: 3, bytes: megabytes(1) });
  const sent: Buffer[] = [];
  for await (const piece of body.open() as AsyncIterable<Buffer>) sent.push(Buffer.from(piece));
  assert.ok(Buffer.concat(sent).equals(content.subarray(3, megabytes(1) + 3)));
  assert.deepEqual([buffers.length, new Set(buffers).size], [8, 2]);
  buffers.length = 0;
  const small = await bodyOfStaged(read, { start: 1, bytes: 1000 });
  assert.ok(content.subarray(1, 1001).equals(small.open() as Buffer));
  assert.equal(buffers.length, 1);
  await assert.rejects(bodyOfStaged(read, { start: content.length - 1, bytes: 2 }), /not complete/);
});
