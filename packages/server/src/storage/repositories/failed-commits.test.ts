import assert from 'node:assert/strict';
import fs from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { before, type TestContext, test } from 'node:test';
import { createNewId } from '../../platform/identifier.ts';
import { keyedHash } from '../../platform/keyed-hash.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { createMetrics } from '../../platform/metrics.ts';
import type { BlobStore } from '../../stores/files/blob-store.ts';
import { CommitInDoubt, type FileRepository } from '../../stores/files/file-repository.ts';
import { checkStore } from '../../stores/files/maintenance/fsck.ts';
import { sweepOrphans } from '../../stores/files/maintenance/sweep-orphans.ts';
import { createQuota } from '../../stores/files/quota.ts';
import { createUploads } from '../../stores/files/upload/upload.ts';
import { createArtifactStore } from '../../tools/artifacts/artifact-store.ts';
import { createArtifactUrls } from '../../tools/artifacts/artifact-urls.ts';
import { checkDatabase, repairIndex } from '../check/check-database.ts';
import { temporaryDatabases } from '../database/testing/temporary-databases.ts';
import { createArtifactRepository } from './artifact-repository.ts';
import { createBlobRepository } from './blob-repository.ts';
import { createFileRepository } from './file-repository.ts';

type Call = 'open' | 'writev' | 'fsync' | 'rename' | 'unlink';
type DiskFault = readonly [call: Call, target: RegExp];

const staging = /\/staging\//;
const bucket = /\/blobs\/\w{4}$/;
const blob = /\/blobs\/\w{4}\/\w+$/;

/** The steps of a commit on the disk. */
const diskFaults: Readonly<Record<string, DiskFault>> = {
  'open of the staged file': ['open', staging],
  'write of the staged file': ['writev', staging],
  'sync of the staged file': ['fsync', staging],
  'rename to the blob': ['rename', staging],
  'sync of the folder': ['fsync', bucket],
  'removal of the unneeded blob': ['unlink', blob],
};

/** The steps of a commit in the database. */
const databaseFaults: Readonly<Record<string, (add: () => Promise<unknown>) => Promise<never>>> = {
  'transaction before its commit': async () => {
    throw new Error('the transaction failed');
  },
  'commit in doubt, which stored the rows': async (add) => {
    await add();
    throw new CommitInDoubt(new Error('no answer'));
  },
  'commit in doubt, which stored nothing': async () => {
    throw new CommitInDoubt(new Error('no answer'));
  },
};

let fault: DiskFault | undefined;
let faults = 0;
const paths = new Map<number, string>();
let openStore: (folder: string) => Promise<BlobStore>;

/** Lets the call that `fault` selects fail, as often as it is repeated. */
function injectFaults(call: Call): void {
  // All of these functions take a callback as their last argument.
  const patched = fs as unknown as Record<Call, (...args: unknown[]) => void>;
  const original = patched[call];
  patched[call] = (...args) => {
    const done = args.at(-1) as (error: Error | null, ...results: unknown[]) => void; // the type as above
    const path = typeof args[0] === 'number' ? (paths.get(args[0]) ?? '') : String(args[0]);
    if (fault?.[0] === call && fault[1].test(path)) {
      faults += 1;
      process.nextTick(done, Object.assign(new Error('EIO: made to fail'), { code: 'EIO', errno: -5, syscall: call }));
      return;
    }
    original(...args.slice(0, -1), (error: Error | null, ...results: unknown[]) => {
      if (call === 'open' && typeof results[0] === 'number') paths.set(results[0], path);
      done(error, ...results);
    });
  };
}

before(async () => {
  for (const call of ['open', 'writev', 'fsync', 'rename', 'unlink'] as const) injectFaults(call);
  // Imports the store after the patches, because it binds the functions when it is loaded.
  ({ openDiskBlobStore: openStore } = await import('../disk/disk-blob-store.ts'));
});

async function openStores(t: TestContext, open: (typeof temporaryDatabases)['SQLite']) {
  const { database, close } = await open();
  const folder = await mkdtemp(join(tmpdir(), 'failed-commits-'));
  const blobs = await openStore(folder);
  t.after(async () => {
    await blobs.close();
    await close();
    await rm(folder, { recursive: true });
  });
  await database.write.insertInto('project').values({ id: 'p', name: 'p', created_at: 0 }).execute();
  const repository = createFileRepository(database);
  let failAdd: ((add: () => Promise<unknown>) => Promise<never>) | undefined;
  const add: FileRepository['add'] = (...args) => {
    const stores = () => repository.add(...args);
    return failAdd === undefined ? stores() : failAdd(stores);
  };
  const clock = { now: () => Date.now() };
  const files = { ...repository, add };
  const limits = { maxProjectBytes: null, maxFiles: null };
  const shared = { blobs, files, clock, newId: createNewId(clock), logger: createLogger('silent') };
  const store = createArtifactStore({
    ...{ ...shared, limits, most: 1000, lifetimeMs: 3_600_000, metrics: createMetrics() },
    ...{ artifacts: createArtifactRepository(database), countExceeded: () => {}, reportDamage: async () => true },
    urls: createArtifactUrls('http://127.0.0.1:1', (text) => [keyedHash(Buffer.alloc(32, 1), text)]),
  });
  const uploads = createUploads({
    ...{ ...shared, reportDamage: async () => true, quota: createQuota(files, limits), maxFileBytes: 1_000_000 },
    minimumRate: { idle: 60_000, grace: 60_000, bytesPerSecond: 1 },
  });

  async function upload(text: string): Promise<string> {
    const part = (name: string, content: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`;
    const body = Readable.from([
      Buffer.from(`${part('purpose', 'record_file')}${part('file"; filename="a.txt', text)}--b--\r\n`),
    ]);
    const release = async () => {};
    const { file } = await uploads.receive(
      { projectId: 'p', uploaderId: null, boundary: 'b', claim: null, release },
      body,
    );
    return file.file_id;
  }

  async function keep(texts: readonly string[]): Promise<readonly string[]> {
    const contents = texts.map((text) => ({ name: 'a.txt', mediaType: 'text/plain', bytes: Buffer.from(text) }));
    const kept = await store.keep(contents, { projectId: 'p', keyId: 'k', runId: 'run1' });
    if (kept === null) throw new Error('not stored');
    return kept.map(({ artifact_id }) => artifact_id);
  }

  async function readArtifact(id: string): Promise<string> {
    return (await store.read(await store.get('p', id))).toString();
  }

  async function readFile(id: string): Promise<string> {
    const file = await repository.find('p', id);
    assert.ok(file, `the file ${id} was acknowledged and has no row`);
    return Buffer.concat(await Array.fromAsync(await blobs.open(file.blobId))).toString();
  }

  /** Never a row without bytes, and nothing left that the sweep or the next start does not remove. */
  async function checkInvariants(context: string): Promise<void> {
    const deps = { ...shared, files: repository, damages: createBlobRepository(database) };
    await sweepOrphans({ ...deps, clock: { now: () => Date.now() + 1 }, grace: 0 }, true);
    const result = await checkStore(
      {
        ...{ ...deps, checkDatabase: () => checkDatabase(database) },
        repairIndex: (collectionId) => repairIndex(database, collectionId),
      },
      { hash: true, repair: false },
    );
    const others = result.faults.filter(({ kind }) => !/quarantine/.test(kind));
    assert.deepEqual(others, [], context);
    assert.deepEqual(await readdir(join(folder, 'staging')), [], context);
  }

  return {
    ...{ upload, keep, readArtifact, readFile, checkInvariants },
    failWith: (next: typeof failAdd) => {
      failAdd = next;
    },
  };
}

for (const [name, open] of Object.entries(temporaryDatabases)) {
  test(`a fault at any step of a commit leaves no row without bytes and loses nothing acknowledged: ${name}`, async (t) => {
    const { upload, keep, readArtifact, readFile, checkInvariants, failWith } = await openStores(t, open);
    t.after(() => {
      fault = undefined;
    });
    const stored = { files: new Map<string, string>(), artifacts: new Map<string, string>() };
    await keep(['the same content']);
    const steps = [...Object.keys(diskFaults), ...Object.keys(databaseFaults)];
    for (const [round, step] of steps.entries()) {
      faults = 0;
      fault = diskFaults[step];
      failWith(databaseFaults[step]);
      // The second artifact is a duplicate, whose bytes are removed after the commit.
      const texts = [`artifact ${round}`, 'the same content'];
      const attempts = [() => keep(texts), () => upload('the same content'), () => upload(`file ${round}`)];
      for (const attempt of attempts) {
        const ids = await attempt().catch(() => null);
        if (typeof ids === 'string') stored.files.set(ids, `${step} ${ids}`);
        for (const [index, id] of (Array.isArray(ids) ? ids : []).entries())
          stored.artifacts.set(id, texts[index] ?? '');
      }
      assert.ok(faults > 0 || databaseFaults[step] !== undefined, `no fault at the ${step}`);
      fault = undefined;
      failWith(undefined);
      await checkInvariants(step);
      if (step === 'removal of the unneeded blob') assert.ok(stored.files.size >= 2 && stored.artifacts.size === 2);
    }
    for (const [id, text] of stored.artifacts) assert.equal(await readArtifact(id), text);
    for (const id of stored.files.keys()) assert.match(await readFile(id), /^(?:file \d|the same content)$/);
    assert.equal(await readFile(await upload('afterwards')), 'afterwards');
  });
}
