import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { type VerifyBlobsDeps, verifyBlobs } from './maintenance/verify-blobs.ts';
import { ask, upload } from './testing/ask.ts';
import { type FilesService, startFilesService } from './testing/files-service.ts';

const day = 24 * 3_600_000;
const start = 1_800_000_000_000;
const never = new AbortController().signal;

function depsOf(service: FilesService, now: number, read: number[]): VerifyBlobsDeps {
  return {
    ...service,
    progress: service.damages,
    clock: { now: () => now },
    passEvery: 7 * day,
    throttle: async (bytes) => void read.push(bytes),
  };
}

describe('the background verification', () => {
  test('reads every byte once in 7 days, each block at the given pace', async () => {
    await using service = await startFilesService();
    for (const content of ['green', 'black tea']) await upload(service, { content });
    const read: number[] = [];
    const sum = () => read.reduce((total, bytes) => total + bytes, 0);
    await verifyBlobs(depsOf(service, start, read), never);
    assert.equal(sum(), 14);
    await verifyBlobs(depsOf(service, start + 7 * day - 1, read), never);
    assert.equal(sum(), 14, 'the next pass is not due');
    await verifyBlobs(depsOf(service, start + 7 * day, read), never);
    assert.equal(sum(), 28);
    const { passStartedAt, passBlobs, passBytes, finishedAt, paused } =
      (await service.damages.findVerification()) ?? {};
    assert.deepEqual(
      { passStartedAt, passBlobs, passBytes, finishedAt, paused },
      { passStartedAt: start + 7 * day, passBlobs: 2, passBytes: 14, finishedAt: start + 7 * day, paused: false },
    );
  });

  test('continues where it stopped, also in another process', async () => {
    await using service = await startFilesService();
    for (let index = 0; index < 150; index += 1) await upload(service, { content: `tea ${index}` });
    const stop = new AbortController();
    const first: number[] = [];
    const interrupted = { ...depsOf(service, start, first) };
    const throttle: VerifyBlobsDeps['throttle'] = async (bytes) => {
      if (first.push(bytes) === 120) stop.abort();
    };
    await assert.rejects(verifyBlobs({ ...interrupted, throttle }, stop.signal), { name: 'AbortError' });
    const second: number[] = [];
    await verifyBlobs(depsOf(service, start + 1, second), never);
    assert.deepEqual([first.length, second.length], [120, 50], 'the batch that was stopped is read again');
    assert.equal((await service.damages.findVerification())?.passBlobs, 150);
  });

  test('continues after the last blob that it had read at the end of a checkpoint interval', async () => {
    await using service = await startFilesService();
    for (let index = 0; index < 5; index += 1) await upload(service, { content: `tea ${index}` });
    const stop = new AbortController();
    const read: number[] = [];
    const throttle: VerifyBlobsDeps['throttle'] = async (bytes, signal) => {
      if (read.push(bytes) === 4) stop.abort();
      signal.throwIfAborted();
    };
    const interrupted = { ...depsOf(service, start, read), checkpointMs: 0, throttle };
    await assert.rejects(verifyBlobs(interrupted, stop.signal), { name: 'AbortError' });
    assert.equal((await service.damages.findVerification())?.passBlobs, 3);
    await verifyBlobs({ ...depsOf(service, start + 1, read), checkpointMs: 0 }, never);
    assert.equal(read.length, 6);
    assert.equal((await service.damages.findVerification())?.passBytes, 25);
  });

  test('stops within a file when it is paused, and reads that file again afterwards', async () => {
    await using service = await startFilesService();
    const block = 256 * 1024;
    for (const content of ['green', 'x'.repeat(4 * block)]) await upload(service, { content });
    const read: number[] = [];
    const throttle: VerifyBlobsDeps['throttle'] = async (bytes) => {
      if (read.push(bytes) === 2) await service.damages.pauseVerification(true);
    };
    await verifyBlobs({ ...depsOf(service, start, read), checkpointMs: 0, throttle }, never);
    assert.deepEqual(read, [5, block]);
    assert.equal((await service.damages.findVerification())?.passBlobs, 1);
    await service.damages.pauseVerification(false);
    await verifyBlobs(depsOf(service, start + 1, read), never);
    assert.deepEqual(read.slice(2), [block, block, block, block]);
    assert.equal(await service.damages.countDamaged(), 0);
  });

  test('finds changed bytes of unchanged length, and clears the mark of damage that was repaired', async () => {
    await using service = await startFilesService();
    const [changed, fine] = [await upload(service, { content: 'green' }), await upload(service, { content: 'black' })];
    await writeFile(await service.pathOf(changed), 'GREEN');
    const { blobId = '' } = (await service.files.find('projecta', fine)) ?? {};
    await service.damages.recordDamage(blobId, 'missing', 1);
    await verifyBlobs(depsOf(service, start, []), never);
    assert.equal(await service.damages.countDamaged(), 1);
    assert.equal((await ask(service, `/v1/files/${changed}/content`)).status, 503);
    assert.equal((await ask(service, `/v1/files/${fine}/content`)).text, 'black');
    assert.equal((await service.quarantined()).length, 1);
  });
});
