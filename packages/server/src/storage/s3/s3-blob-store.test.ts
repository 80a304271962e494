import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, afterEach, before, describe, test } from 'node:test';
import { createNewId } from '../../platform/identifier.ts';
import { Secret } from '../../platform/secret.ts';
import { until } from '../../platform/testing/until.ts';
import { BlobMissing, type BlobStore } from '../../stores/files/blob-store.ts';
import { describeBlobStore } from '../../stores/files/testing/blob-store.suite.ts';
import { eraseBlob, keyOf, openS3BlobStore, writeMark } from './s3-blob-store.ts';
import { bodyOfText } from './s3-bodies.ts';
import { createS3Client, type S3Place } from './s3-client.ts';
import { createS3Objects, type S3Objects } from './s3-objects.ts';
import { faultsOf, type S3RequestSeen, type S3Server, startS3Server } from './testing/s3-server.fixture.ts';

const blobsId = 'this place';

async function open(place: S3Place, folder: string, add = async () => {}, silenceMs?: number): Promise<BlobStore> {
  const client = createS3Client(place, undefined, silenceMs);
  const objects = createS3Objects(client);
  await writeMark(objects, { store_id: 'this store', blobs_id: blobsId });
  return openS3BlobStore({ client, folder, intents: intentsOf(objects, add), blobsId });
}

/** Erases deleted blobs at once, as the sweep does later. */
const intentsOf = (objects: S3Objects, add = async () => {}) => ({
  add,
  renew: async () => undefined,
  discard: async (blobId: string) => await eraseBlob(objects, blobId),
});

const openFolder = () => mkdtemp(join(tmpdir(), 'quartermaster-s3-'));

/** Disturbs the first attempt of every third request, and of each end of an upload, with the fault that occurred least. */
function disturb({ faults }: S3Server): S3Server['choose'] {
  const known = new Set<string>();
  let count = 0;
  return (request) => {
    const name = `${request.method} ${request.path}`;
    const isEnd = request.method === 'POST' && request.path.includes('uploadId');
    if (known.has(name) || (++count % 3 !== 0 && !isEnd)) return undefined;
    known.add(name);
    return faultsOf(request).toSorted((a, b) => (faults.get(a) ?? 0) - (faults.get(b) ?? 0))[0];
  };
}

const allFaults = ['cut', 'lost', 'repeated', 'late', 'refused', 'conflict', 'error200', 'halved', 'changed'] as const;

for (const isDisturbed of [false, true]) {
  describeBlobStore(isDisturbed ? 'S3 with faults' : 'S3', async () => {
    const server = await startS3Server(isDisturbed ? '' : 'some/pre fix');
    const folder = await openFolder();
    const store = await open(server.place, folder);
    if (isDisturbed) server.choose = disturb(server);
    return {
      store,
      release: async () => {
        await store.close();
        await server.close();
        assert.deepEqual(await readdir(join(folder, 'staging')), []);
        if (isDisturbed) assert.deepEqual([...server.faults.keys()].toSorted(), [...allFaults].toSorted());
        await rm(folder, { recursive: true });
      },
    };
  });
}

describe('blobs in S3', () => {
  const newId = createNewId();
  let server: S3Server;
  let folder: string;
  let store: BlobStore;
  before(async () => {
    server = await startS3Server();
    folder = await openFolder();
    store = await open(server.place, folder);
  });
  afterEach(() => {
    server.choose = () => undefined;
  });
  after(async () => {
    await store.close();
    await server.close();
    await rm(folder, { recursive: true });
  });

  async function keep(content: Buffer, into = store): Promise<string> {
    const staged = into.stage(newId('blob'));
    for (let at = 0; at < content.length; at += 2 ** 20)
      await staged.append(Buffer.from(content.subarray(at, at + 2 ** 20)));
    await staged.finish();
    await staged.commit();
    return staged.blobId;
  }
  const requests = async (work: () => Promise<unknown>) => {
    const from = server.seen.length;
    await work();
    return server.seen
      .slice(from)
      .map(({ method, path }) => `${method} ${path.replace(/^[^?]*/, '').replace(/=[^&]*/g, '')}`);
  };

  test('an upload of up to 16 MiB is one PUT, a larger one is sent in parts, and a read is one GET', async () => {
    const ids: string[] = [];
    const save = (bytes: number) => async () => void ids.push(await keep(randomBytes(bytes)));
    assert.deepEqual(await requests(save(16 * 2 ** 20)), ['PUT ']);
    const parts = [...Array(3).fill('PUT ?partNumber&uploadId'), 'POST ?uploadId', 'HEAD '];
    assert.deepEqual(await requests(save(16 * 2 ** 20 + 1)), ['POST ?uploads', ...parts]);
    for (const id of ids) assert.deepEqual(await requests(async () => buffer(await store.open(id))), ['GET ']);
  });

  async function stageLarge(into = store, bytes = 25 * 2 ** 20) {
    const staged = into.stage(newId('blob'));
    const content = randomBytes(bytes);
    for (let at = 0; at < bytes; at += 2 ** 20) await staged.append(Buffer.from(content.subarray(at, at + 2 ** 20)));
    return { staged, content };
  }
  const isPart = ({ method, path }: S3RequestSeen) => method === 'PUT' && path.includes('uploadId');

  test('parts are sent while the message is received, and a part that fails then is sent again', async () => {
    const from = server.seen.length;
    let refusals = 0;
    server.choose = (request) => (isPart(request) && ++refusals <= 5 ? 'refused' : undefined);
    const { staged, content } = await stageLarge();
    await until(() => server.seen.slice(from).filter(isPart).length >= 7);
    assert.equal(await store.size(staged.blobId), undefined);
    await staged.finish();
    await staged.commit();
    assert.ok(content.equals(await buffer(await store.open(staged.blobId))));
  });

  test('an upload that is discarded after parts were sent leaves neither object, parts nor staged bytes', async () => {
    for (const fault of [undefined, 'silent'] as const) {
      const from = server.seen.length;
      server.choose = (request) => (isPart(request) ? fault : undefined);
      const { staged } = await stageLarge();
      await until(() => server.seen.slice(from).some(isPart));
      await staged.discard();
      assert.match(server.seen.map(({ method, path }) => `${method} ${path}`).at(-1) ?? '', /^DELETE .*uploadId=/);
      assert.equal(await store.size(staged.blobId), undefined);
      assert.deepEqual(await readdir(join(folder, 'staging')), []);
    }
  });

  test('the intent of a blob is stored before the first byte is sent, and without it nothing is sent', async () => {
    const own = await open(server.place, await openFolder(), async () => Promise.reject(new Error('no database')));
    assert.deepEqual(await requests(() => assert.rejects(keep(Buffer.from('x'), own), /no database/)), []);
    assert.deepEqual(await requests(() => assert.rejects(keep(randomBytes(20_000_000), own), /no database/)), []);
    await own.close();
  });

  test('an upload that can never succeed leaves nothing and says what the operator must do', async () => {
    const wrong = { ...server.place, secretAccessKey: new Secret('another') };
    const client = createS3Client(wrong);
    const own = await openS3BlobStore({ client, folder, intents: intentsOf(createS3Objects(client)), blobsId });
    await assert.rejects(keep(Buffer.from('x'), own), {
      code: 'SERVICE_UNAVAILABLE',
      message:
        'The object storage failed (SignatureDoesNotMatch). The operator must act: Correct AWS_SECRET_ACCESS_KEY and AWS_REGION.',
    });
    await own.close();
  });

  test('a storage that stays overloaded refuses the upload after five attempts and leaves no staged bytes', async () => {
    server.choose = () => 'refused';
    const sent = await requests(() => assert.rejects(keep(Buffer.from('x')), { code: 'SERVICE_UNAVAILABLE' }));
    assert.deepEqual(sent, Array(5).fill('PUT '));
    assert.deepEqual(await readdir(join(folder, 'staging')), []);
  });

  const isEnd = ({ method, path }: S3RequestSeen) => method === 'POST' && path.includes('uploadId');
  for (const [fault, name] of [
    ['lost', 'the answer to its end is lost'],
    ['late', 'its end arrives after it was refused'],
    ['conflict', 'its end conflicts with another request'],
  ] as const) {
    test(`an upload in parts succeeds when ${name}`, async () => {
      let ends = 0;
      server.choose = (request) => (isEnd(request) && ++ends === 1 ? fault : undefined);
      const blobId = await keep(randomBytes(20_000_000));
      assert.deepEqual([ends, await store.size(blobId)], [2, 20_000_000]);
    });
  }

  test('an upload in parts whose end never succeeds is aborted, and nothing is left', async () => {
    server.choose = (request) => (isEnd(request) ? 'conflict' : undefined);
    const sent = await requests(() => assert.rejects(keep(randomBytes(20_000_000)), { code: 'SERVICE_UNAVAILABLE' }));
    assert.deepEqual(sent.slice(-6), [...Array(5).fill('POST ?uploadId'), 'DELETE ?uploadId']);
  });

  test('a request without an answer is sent again, and a read that stops continues where it ended', async () => {
    const own = await open({ ...server.place, prefix: 'silent' }, folder, undefined, 100);
    const content = randomBytes(3_000_000);
    let puts = 0;
    server.choose = ({ method }) => (method === 'PUT' && ++puts === 1 ? 'silent' : undefined);
    const blobId = await keep(content, own);
    let gets = 0;
    server.choose = ({ method }) =>
      method === 'GET' && ++gets < 3 ? (['silent', 'stalled'] as const)[gets - 1] : undefined;
    assert.ok(content.equals(await buffer(await own.open(blobId))));
    assert.deepEqual([puts, gets], [2, 3]);
    server.choose = () => 'silent';
    await assert.rejects(keep(content, own), { code: 'SERVICE_UNAVAILABLE', message: /no answer/ });
    await own.close();
  });

  test('a read that breaks off again and again continues where it ended', async () => {
    const content = randomBytes(3_000_000);
    const blobId = await keep(content);
    let cuts = 0;
    server.choose = ({ method }) => (method === 'GET' && ++cuts <= 4 ? 'halved' : undefined);
    assert.ok(content.equals(await buffer(await store.open(blobId))));
    assert.equal(cuts, 5);
    cuts = 0;
    assert.ok(
      content.subarray(10, 2_000_000).equals(await buffer(await store.open(blobId, { start: 10, end: 1_999_999 }))),
    );
  });

  test('a reader that stops before the first byte or in the middle closes its request and harms nothing', async () => {
    const blobId = await keep(randomBytes(3_000_000));
    const unread = await store.open(blobId);
    unread.destroy();
    await once(unread, 'close');
    for await (const _ of await store.open(blobId)) break;
    await new Promise(setImmediate);
    assert.equal((await buffer(await store.open(blobId))).length, 3_000_000);
    // All bytes of this one have arrived when it is closed.
    const small = await keep(randomBytes(100));
    const arrived = await store.open(small);
    assert.equal((await buffer(await store.open(small))).length, 100);
    arrived.destroy();
    await once(arrived, 'close');
    await new Promise(setImmediate);
    await new Promise(setImmediate);
  });

  test('an object that changes during a read ends the read with an error', async () => {
    const blobId = await keep(randomBytes(1_000_000));
    let gets = 0;
    server.choose = ({ method }) => (method === 'GET' && ++gets === 1 ? 'halved' : undefined);
    const stream = await store.open(blobId);
    const client = createS3Client(server.place);
    await createS3Objects(client).put(keyOf(blobId), bodyOfText('other bytes'));
    await client.close();
    await assert.rejects(buffer(stream));
  });

  test('no blob counts as missing while the bucket or the mark of the store is missing', async () => {
    const elsewhere = { ...server.place, prefix: 'elsewhere' };
    const client = createS3Client(elsewhere);
    const own = await openS3BlobStore({ client, folder, intents: intentsOf(createS3Objects(client)), blobsId });
    const blobId = newId('blob');
    for (const read of [() => own.open(blobId), () => own.size(blobId), () => own.check()])
      await assert.rejects(read, { code: 'SERVICE_UNAVAILABLE' });
    await own.close();
    await assert.rejects(store.open(blobId), BlobMissing);
  });

  test('the nodes of an earlier store are not ready after a restored store has taken the place over', async () => {
    const place = { ...server.place, prefix: 'restored' };
    const own = await open(place, folder);
    await own.check();
    await own.close();
    const client = createS3Client(place);
    await writeMark(createS3Objects(client), { store_id: 'this store', blobs_id: 'restored' });
    const earlier = await openS3BlobStore({ client, folder, intents: intentsOf(createS3Objects(client)), blobsId });
    await assert.rejects(earlier.check(), { code: 'SERVICE_UNAVAILABLE', message: /restored from a backup/ });
    await earlier.close();
  });

  test('a list returns all objects, also those of the second page', async () => {
    const own = await open({ ...server.place, prefix: 'many' }, folder);
    const ids = await Promise.all(Array.from({ length: 1005 }, () => keep(Buffer.from('x'), own)));
    const found = await Array.fromAsync(own.list(), ({ blobId }) => blobId);
    assert.deepEqual(found.sort(), ids.sort());
    await own.close();
  });
});
