import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyOfText } from './s3-bodies.ts';
import type { S3Answer, S3Client, S3Request } from './s3-client.ts';
import { createS3Objects } from './s3-objects.ts';

test('two parts of an upload are on their way at the same time, and they are joined in their order', async () => {
  const bytes = 33 * 2 ** 20;
  let [inFlight, most] = [0, 0];
  let end = '';
  const send = async ({ method, query, body }: S3Request) => {
    const part = query?.partNumber;
    if (part !== undefined) {
      most = Math.max(most, ++inFlight);
      // The first part is the last one to arrive.
      for (let turn = 0; turn < (part === '1' ? 50 : 1); turn += 1) await new Promise(setImmediate);
      inFlight -= 1;
    } else if (body !== undefined) end = Buffer.concat(await Array.fromAsync(body.open())).toString();
    const headers = { etag: `"${part}"`, 'content-length': String(bytes) };
    return { status: 200, headers, text: method === 'POST' ? '<UploadId>u</UploadId>' : '' } as unknown as S3Answer;
  };
  const place = { bucket: 'store', prefix: '' };
  await createS3Objects({ place, send } as unknown as S3Client).putParts('key', bytes, async () => bodyOfText('part'));
  assert.equal(most, 2);
  assert.deepEqual(
    [...end.matchAll(/<ETag>"(\d)"/g)].map(([, part]) => part),
    ['1', '2', '3', '4', '5'],
  );
});
