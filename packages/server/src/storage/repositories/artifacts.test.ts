import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createNewId } from '../../platform/identifier.ts';
import { keyedHash } from '../../platform/keyed-hash.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { createMetrics } from '../../platform/metrics.ts';
import type { BlobStore } from '../../stores/files/blob-store.ts';
import { deleteFile } from '../../stores/files/delete-file.ts';
import type { FileLimits } from '../../stores/files/file-repository.ts';
import { checkStore } from '../../stores/files/maintenance/fsck.ts';
import { createArtifactStore } from '../../tools/artifacts/artifact-store.ts';
import { createArtifactUrls } from '../../tools/artifacts/artifact-urls.ts';
import { createArtifactSweep } from '../../tools/artifacts/sweep-artifacts.ts';
import { checkDatabase, repairIndex } from '../check/check-database.ts';
import { temporaryDatabases } from '../database/testing/temporary-databases.ts';
import { openDiskBlobStore } from '../disk/disk-blob-store.ts';
import { createArtifactRepository } from './artifact-repository.ts';
import { createBlobRepository } from './blob-repository.ts';
import { createFileRepository } from './file-repository.ts';

const hour = 3_600_000;
const noQuota = { maxProjectBytes: null, maxFiles: null };

async function openStore(
  t: TestContext,
  open: (typeof temporaryDatabases)['SQLite'],
  { most = 5, quota = noQuota, failing = {} }: { most?: number; quota?: FileLimits; failing?: Partial<BlobStore> } = {},
) {
  const { database, close } = await open();
  t.after(close);
  const project = { id: 'p', name: 'p', created_at: 0 };
  await database.write.insertInto('project').values(project).execute();
  const folder = await mkdtemp(join(tmpdir(), 'artifacts-'));
  const disk = await openDiskBlobStore(folder);
  t.after(async () => {
    await disk.close();
    await rm(folder, { recursive: true });
  });
  let now = 1_800_000_000_000;
  const clock = { now: () => now };
  const [files, artifacts] = [createFileRepository(database), createArtifactRepository(database)];
  const blobs = { ...disk, ...failing };
  const exceeded: string[] = [];
  const shared = { files, artifacts, blobs, clock, logger: createLogger('silent'), newId: createNewId(clock) };
  const metrics = createMetrics();
  const store = createArtifactStore({
    ...{ ...shared, most, lifetimeMs: hour, metrics, limits: quota },
    urls: createArtifactUrls('http://127.0.0.1:1', (text) => [keyedHash(Buffer.alloc(32, 1), text)]),
    countExceeded: (limit) => exceeded.push(limit),
    reportDamage: async () => true,
  });
  const damages = createBlobRepository(database);
  const check = () =>
    checkStore(
      {
        ...{ ...shared, damages, checkDatabase: () => checkDatabase(database) },
        repairIndex: (collectionId) => repairIndex(database, collectionId),
      },
      { hash: true, repair: false },
    );
  const count = async () => {
    let blobCount = 0;
    for await (const _ of disk.list()) blobCount += 1;
    return blobCount;
  };
  return {
    ...{ database, store, files, blobs, exceeded, check, count },
    sweep: createArtifactSweep({ ...shared, metrics }),
    metric: async (name: string) => (await metrics.getSingleMetric(name)?.get())?.values.map(({ value }) => value),
    advance: (ms: number) => {
      now += ms;
    },
  };
}

const owner = { projectId: 'p', keyId: 'k', runId: 'xrun1' };
const fileName = 'a.txt';
const content = (text: string) => ({ name: fileName, mediaType: 'text/plain', bytes: Buffer.from(text) });

for (const [name, open] of Object.entries(temporaryDatabases)) {
  test(`an artifact is read as it was stored, in its own project only, until it expires: ${name}`, async (t) => {
    const { store, files, advance, check } = await openStore(t, open);
    const [kept] = (await store.keep([content('one')], owner)) ?? [];
    assert.ok(kept);
    assert.equal(kept.sha256, createHash('sha256').update('one').digest('hex'));
    assert.deepEqual([kept.bytes, kept.run_id, kept.media_type], [3, 'xrun1', 'text/plain']);
    const found = await store.get('p', kept.artifact_id);
    assert.equal(found.keyId, 'k');
    assert.equal((await store.read(found)).toString(), 'one');
    await assert.rejects(store.get('other', kept.artifact_id), { code: 'OBJECT_NOT_FOUND' });
    assert.deepEqual((await check()).faults, []);
    assert.equal(await files.bytesKept('p'), 3 + fileName.length, 'it counts against the quota');
    advance(hour);
    await assert.rejects(store.get('p', kept.artifact_id), { code: 'OBJECT_NOT_FOUND' });
  });

  test(`artifacts are no files: they are not listed, found, or deleted as files: ${name}`, async (t) => {
    const { store, files, blobs } = await openStore(t, open);
    const [kept] = (await store.keep([content('one')], owner)) ?? [];
    assert.ok(kept);
    assert.equal(await files.find('p', kept.artifact_id), undefined);
    assert.deepEqual((await files.list('p', {})).items, []);
    await assert.rejects(deleteFile({ files, blobs }, 'p', kept.artifact_id), { code: 'OBJECT_NOT_FOUND' });
    await assert.rejects(store.remove('other', kept.artifact_id), { code: 'OBJECT_NOT_FOUND' });
    await store.remove('p', kept.artifact_id);
    await assert.rejects(store.get('p', kept.artifact_id), { code: 'OBJECT_NOT_FOUND' });
  });

  test(`expired artifacts are swept with their bytes, unless others have the same content: ${name}`, async (t) => {
    const { store, files, sweep, advance, count, check, metric } = await openStore(t, open);
    await store.keep([content('one'), content('two')], owner);
    advance(hour / 2);
    await store.keep([content('two')], owner);
    assert.equal(await count(), 2);
    assert.equal(await sweep(), 0);
    const stored = async () => [
      await metric('quartermaster_artifacts_stored'),
      await metric('quartermaster_artifacts_stored_bytes'),
    ];
    assert.deepEqual(await stored(), [[3], [9]]);
    advance(hour / 2);
    assert.equal(await sweep(), 2);
    assert.deepEqual([await count(), await files.bytesKept('p')], [1, 3 + fileName.length]);
    advance(hour);
    assert.equal(await sweep(), 1);
    assert.deepEqual([await count(), await files.bytesKept('p')], [0, 0]);
    assert.deepEqual((await check()).faults, []);
    assert.deepEqual(await metric('quartermaster_artifact_bytes_total'), [9]);
    assert.deepEqual(await metric('quartermaster_artifacts_expired_total'), [3]);
    assert.deepEqual(await stored(), [[0], [0]]);
  });

  test(`a run has all of its artifacts or none: the limit artifacts_of_project and the quota refuse, and no bytes stay: ${name}`, async (t) => {
    const numbered = await openStore(t, open, { most: 2 });
    assert.equal((await numbered.store.keep([content('one')], owner))?.length, 1);
    assert.equal(await numbered.store.keep([content('two'), content('three')], owner), null);
    assert.deepEqual(await numbered.metric('quartermaster_artifact_bytes_total'), [3], 'only stored bytes count');
    assert.deepEqual(numbered.exceeded, ['artifacts_of_project']);
    assert.equal((await numbered.store.keep([content('two')], owner))?.length, 1);
    const quotas = [
      { maxProjectBytes: 4 + fileName.length, maxFiles: null },
      { maxProjectBytes: null, maxFiles: 1 },
    ];
    for (const quota of quotas) {
      const bounded = await openStore(t, open, { quota });
      assert.equal(await bounded.store.keep([content('one'), content('two')], owner), null);
      assert.deepEqual([await bounded.count(), await bounded.files.bytesKept('p')], [0, 0]);
      assert.deepEqual((await bounded.check()).faults, []);
      assert.equal((await bounded.store.keep([content('one')], owner))?.length, 1);
    }
  });

  test(`the limit answer_reserve_artifacts: answers above the number of artifacts are stored up to the reserve: ${name}`, async (t) => {
    const { store } = await openStore(t, open, { most: 1 });
    const keep = (index: number) => store.keep([content(`answer ${index}`)], owner, { usesReserve: true });
    for (let index = 0; index < 1 + 16; index += 1) assert.equal((await keep(index))?.length, 1, String(index));
    assert.equal(await keep(17), null);
    assert.equal(await store.keep([content('an output')], owner), null, 'outputs have no reserve');
  });

  test(`a disk without room keeps nothing, and the run goes on: ${name}`, async (t) => {
    const checkRoom = () => Promise.reject(new Error('no room'));
    const { store, count } = await openStore(t, open, { failing: { checkRoom } });
    assert.equal(await store.keep([content('one')], owner), null);
    assert.equal(await count(), 0);
  });
}

test('a signature is valid for its artifact, project and time only, and under an earlier key of the store', () => {
  const keys = [1, 2].map((fill) => (text: string) => keyedHash(Buffer.alloc(32, fill), text));
  const [first, second] = keys.map((hash) => createArtifactUrls('http://h:1/', (text) => [hash(text)]));
  const both = createArtifactUrls('http://h:1', (text) => keys.map((hash) => hash(text)));
  const read = { artifactId: 'arti1', projectId: 'p', expiresAt: 5 };
  const url = new URL(second?.sign(read) ?? '');
  assert.equal(`${url.origin}${url.pathname}`, 'http://h:1/v1/artifacts/arti1/content');
  const signature = url.searchParams.get('signature') ?? '';
  assert.deepEqual(
    [first, second, both].map((urls) => urls?.isSigned(read, signature)),
    [false, true, true],
  );
  for (const other of [{ artifactId: 'arti2' }, { projectId: 'q' }, { expiresAt: 6 }]) {
    assert.equal(both.isSigned({ ...read, ...other }, signature), false, JSON.stringify(other));
  }
  for (const wrong of ['', signature.slice(1), `${signature.slice(0, -1)}ü`, signature.toUpperCase()]) {
    assert.equal(both.isSigned(read, wrong), false, wrong);
  }
});
