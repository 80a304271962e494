import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { createNewId } from '../../platform/identifier.ts';
import { Problem } from '../../platform/problem.ts';
import type { BlobStore } from '../../stores/files/blob-store.ts';

type Call = 'open' | 'writev' | 'fsync' | 'rename' | 'close' | 'read' | 'unlink';
type Callback = (error: Error | null, ...results: unknown[]) => void;

/** The calls in order, each with its file. A call that has returned is listed as `done`. */
let calls: string[] = [];
let fault: { call: Call; nth: number; code: string } | undefined;
let faultHit = false;
const names = new Map<number, string>();

/** Records the calls of Node.js. The call that `fault` selects fails without being executed. */
function record(call: Call): void {
  // All five functions take a callback as their last argument.
  const patched = fs as unknown as Record<Call, (...args: unknown[]) => void>;
  const original = patched[call];
  patched[call] = (...args) => {
    const callback = args.at(-1) as Callback; // the type as above
    const target =
      typeof args[0] === 'number' ? (names.get(args[0]) ?? '?') : kindOf(String(args.at(call === 'rename' ? 1 : 0)));
    calls.push(`${call} ${target}`);
    if (fault?.call === call && --fault.nth === 0) {
      faultHit = true;
      // Node.js does not know EDQUOT.
      const code = fault.code === 'EDQUOT' ? 'UNKNOWN' : fault.code;
      const errno = -(constants.errno as Record<string, number>)[fault.code]!;
      const error = Object.assign(new Error(`${fault.code}: made to fail`), { code, errno, syscall: call });
      process.nextTick(callback, error);
      return;
    }
    original(...args.slice(0, -1), (error: Error | null, ...results: unknown[]) => {
      const [result] = results;
      if (call === 'open' && typeof result === 'number') names.set(result, target);
      calls.push(`done ${call} ${target}`);
      callback(error, ...results);
    });
  };
}
function kindOf(path: string): string {
  if (path.includes('staging/')) return 'staged';
  if (path.endsWith('blobs')) return 'parent';
  return /blobs\/\w{4}$/.test(path) ? 'folder' : 'blob';
}

describe('the disk under a blob', () => {
  let folder: string;
  let store: BlobStore;
  const newId = createNewId();
  const stored: string[] = [];
  before(async () => {
    for (const call of ['open', 'writev', 'fsync', 'rename', 'close', 'read', 'unlink'] as const) record(call);
    // Imports the store after the patches, because it binds the functions when it is loaded.
    const { openDiskBlobStore } = await import('./disk-blob-store.ts');
    folder = await mkdtemp(join(tmpdir(), 'quartermaster-disk-'));
    store = await openDiskBlobStore(folder);
    stored.push(await keep(10));
  });
  after(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });
  afterEach(() => {
    fault = undefined;
  });

  let attempted = '';
  async function keep(size: number): Promise<string> {
    const staged = store.stage(newId('blob'));
    attempted = staged.blobId;
    try {
      for (let at = 0; at < size; at += 65_536) await staged.append(randomBytes(Math.min(65_536, size - at)));
      await staged.finish();
      await staged.commit();
      return staged.blobId;
    } finally {
      await staged.discard();
    }
  }

  test('the store writes, syncs the file, renames it and syncs the folder, in this order', async () => {
    for (const size of [10, 3_000_000]) {
      calls = [];
      stored.push(await keep(size));
      const at = (call: string) => {
        assert.ok(calls.includes(call), `${call} in ${calls}`);
        return calls.lastIndexOf(call);
      };
      const order =
        'done writev staged | fsync staged | done fsync staged | rename blob | done rename blob | fsync folder | done fsync folder'
          .split(' | ')
          .map(at);
      assert.deepEqual(
        order,
        [...order].sort((a, b) => a - b),
        calls.join(', '),
      );
    }
    calls = [];
    stored.push(await keep(10));
    assert.equal(calls.filter((call) => !call.startsWith('done')).length, 6, calls.join(', '));
  });

  test('a new folder is durable before it contains a blob', async () => {
    calls = [];
    const staged = store.stage(createNewId({ now: () => 1_600_000_000_000 })('blob'));
    await staged.finish();
    await staged.commit();
    stored.push(staged.blobId);
    assert.ok(calls.indexOf('done fsync parent') < calls.indexOf('rename blob'), calls.join(', '));
    assert.ok(calls.includes('done fsync parent'));
  });

  for (const call of ['open', 'read', 'unlink'] as const) {
    test(`the store reports a disk failure when ${call} of a stored blob fails`, async () => {
      const blobId = await keep(10);
      fault = { call, nth: 1, code: 'EIO' };
      const use = async () => {
        if (call === 'unlink') await store.remove(blobId);
        else for await (const _ of await store.open(blobId));
      };
      await assert.rejects(use(), (error) => error instanceof Problem && error.status === 503);
      fault = undefined;
      await store.remove(blobId);
    });
  }

  for (const code of ['EIO', 'ENOSPC', 'EDQUOT', 'EMFILE']) {
    for (const call of ['open', 'writev', 'fsync', 'rename', 'close'] as const) {
      test(`an upload whose ${call} fails with ${code} leaves nothing in staging, and a named blob is not deleted`, async () => {
        for (const size of [10, 3_000_000]) {
          for (let nth = 1; ; nth += 1) {
            fault = { call, nth, code };
            faultHit = false;
            calls = [];
            const outcome = await keep(size).then(
              (blobId) => ({ blobId }),
              (error: unknown) => ({ error }),
            );
            fault = undefined;
            if ('blobId' in outcome) {
              assert.ok(!faultHit, 'an upload was taken although its disk failed');
              stored.push(outcome.blobId);
              break;
            }
            assert.ok(faultHit);
            const status = outcome.error instanceof Problem ? outcome.error.status : 500;
            assert.equal(status, { EIO: 503, ENOSPC: 507, EDQUOT: 507, EMFILE: 503 }[code]);
            assert.deepEqual(await readdir(join(folder, 'staging')), []);
            if (calls.includes('done rename blob')) stored.push(attempted);
          }
        }
        const found: string[] = [];
        for await (const blob of store.list()) found.push(blob.blobId);
        assert.deepEqual(found.sort(), [...stored].sort());
      });
    }
  }

  test('a failed sync of the folder results in 503, and the blob stays', async () => {
    const staged = store.stage(newId('blob'));
    await staged.append(Buffer.from('text'));
    await staged.finish();
    calls = [];
    fault = { call: 'fsync', nth: 2, code: 'EIO' };
    await assert.rejects(staged.commit(), { code: 'SERVICE_UNAVAILABLE', headers: { 'Retry-After': '1' } });
    assert.deepEqual(
      calls.filter((call) => call.startsWith('fsync')),
      ['fsync staged', 'fsync folder'],
    );
    assert.equal(await store.size(staged.blobId), 4);
    stored.push(staged.blobId);
  });

  test('a failed sync is not retried', async () => {
    const staged = store.stage(newId('blob'));
    await staged.append(Buffer.from('text'));
    await staged.finish();
    calls = [];
    fault = { call: 'fsync', nth: 1, code: 'EIO' };
    await assert.rejects(staged.commit());
    assert.equal(calls.filter((call) => call === 'fsync staged').length, 1);
    assert.ok(!calls.includes('rename blob'));
  });
});
