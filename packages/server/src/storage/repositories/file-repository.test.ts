import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../platform/clock.ts';
import {
  describeIdempotencyRepository,
  runningNode,
} from '../../platform/idempotency/testing/idempotency-repository.suite.ts';
import { createNewId } from '../../platform/identifier.ts';
import { noFileLimits } from '../../stores/files/file-repository.ts';
import { checkStore, type StoreReport } from '../../stores/files/maintenance/fsck.ts';
import { describeBlobRepository } from '../../stores/files/testing/blob-repository.suite.ts';
import { describeFileRepository } from '../../stores/files/testing/file-repository.suite.ts';
import { checkDatabase, repairIndex } from '../check/check-database.ts';
import type { Database } from '../database/database.ts';
import { insertCollection, insertRecord } from '../database/testing/insert-rows.ts';
import { temporaryDatabases } from '../database/testing/temporary-databases.ts';
import { openDiskBlobStore } from '../disk/disk-blob-store.ts';
import { createBlobRepository } from './blob-repository.ts';
import { createFileRepository } from './file-repository.ts';
import { createIdempotencyRepository } from './idempotency-repository.ts';

const newId = createNewId();
const isStored = async () => true;

async function addRecord(database: Database, projectId: string, fileId: string, status: string): Promise<string> {
  const project = { project_id: projectId };
  const collectionId = await insertCollection(database, project);
  return insertRecord(database, collectionId, { ...project, type: 'file', file_id: fileId, status });
}

function newFile(projectId: string, bytes: number) {
  const [id, blobId] = [newId('file'), newId('blob')];
  const about = { name: 'a.txt', purpose: 'record_file', extension: 'txt', sha256: id, createdAt: 1 } as const;
  return { file: { id, blobId, projectId, bytes, ...about }, claim: null };
}

for (const [name, open] of Object.entries(temporaryDatabases)) {
  describeFileRepository(name, async () => {
    const { database, close: release } = await open();
    return {
      files: createFileRepository(database),
      idempotency: createIdempotencyRepository(database),
      addRecord: (projectId, fileId, status) => addRecord(database, projectId, fileId, status),
      release,
    };
  });
  describeBlobRepository(name, async () => {
    const { database, close: release } = await open();
    return { blobs: createBlobRepository(database), files: createFileRepository(database), release };
  });
  describeIdempotencyRepository(name, async () => {
    const { database, close: release } = await open();
    const now = database.clock.now();
    const node = {
      id: runningNode,
      serves: 'both',
      host: 'h',
      version: '1',
      folder_instance: '',
      settings: '{}',
    } as const;
    const row = {
      ...node,
      address: '',
      capabilities: '{}',
      started_at: now,
      heartbeat_at: now + 600_000,
      stopped_at: null,
    };
    await database.write.insertInto('node').values(row).execute();
    return { repository: createIdempotencyRepository(database, { maxBytes: 30 }), release };
  });
}

for (const [name, open] of Object.entries(temporaryDatabases)) {
  test(`a sum that differs from the files is found and corrected: ${name}`, async (t) => {
    const { database, close: release } = await open();
    t.after(release);
    const files = createFileRepository(database);
    const folder = await mkdtemp(join(tmpdir(), 'quartermaster-blobs-'));
    const blobs = await openDiskBlobStore(folder);
    t.after(async () => {
      await blobs.close();
      await rm(folder, { recursive: true });
    });
    const deps = {
      files,
      blobs,
      damages: createBlobRepository(database),
      clock: systemClock,
      checkDatabase: () => checkDatabase(database),
      repairIndex: (collectionId: string) => repairIndex(database, collectionId),
    };
    await files.add([newFile('a', 30), newFile('b', 5), newFile('c', 7), newFile('d', 0)], noFileLimits, isStored);
    assert.deepEqual(await files.wrongUsages(), []);
    await database.write
      .updateTable('project_usage')
      .set({ file_bytes: 5_000_000_000 })
      .where('project_id', '=', 'a')
      .execute();
    await database.write.deleteFrom('project_usage').where('project_id', '=', 'b').execute();
    await database.write.updateTable('project_usage').set({ file_count: 9 }).where('project_id', '=', 'd').execute();
    await database.write
      .insertInto('project_usage')
      .values({ project_id: 'gone', file_bytes: -1, file_count: 0 })
      .execute();
    const chunks = { expectedChunkBytes: 0, foundChunkBytes: 0 };
    const right = { ...chunks, expectedRecordBytes: 0, foundRecordBytes: 0, wrongRecords: 0 };
    const name = newFile('a', 0).file.name.length;
    const names = (expectedTextBytes: number, foundTextBytes = expectedTextBytes) => ({
      expectedTextBytes,
      foundTextBytes,
    });
    const faults = [
      { projectId: 'a', expected: 30, found: 5_000_000_000, expectedFiles: 1, foundFiles: 1, ...names(name) },
      { projectId: 'b', expected: 5, found: 0, expectedFiles: 1, foundFiles: 0, ...names(name, 0) },
      { projectId: 'd', expected: 0, found: 0, expectedFiles: 1, foundFiles: 9, ...names(name) },
      { projectId: 'gone', expected: 0, found: -1, expectedFiles: 0, foundFiles: 0, ...names(0) },
    ].map((usage) => ({ kind: 'usage_differs', ...usage, ...right }));
    const usagesIn = ({ faults, mended }: StoreReport) =>
      [faults, mended].map((list) => list.filter(({ kind }) => kind === 'usage_differs'));
    assert.deepEqual(usagesIn(await checkStore(deps, { hash: false, repair: false })), [faults, []]);
    assert.deepEqual(usagesIn(await checkStore(deps, { hash: false, repair: true })), [faults, faults]);
    assert.deepEqual(await files.wrongUsages(), []);
    assert.deepEqual(await Promise.all(['a', 'b', 'c', 'gone'].map(files.bytesKept)), [
      30 + name,
      5 + name,
      7 + name,
      0,
    ]);
  });

  test(`a sum that is corrected during additions and deletions matches the files: ${name}`, async (t) => {
    const { database, close: release } = await open();
    t.after(release);
    const files = createFileRepository(database);
    await Promise.all(
      Array.from({ length: 30 }, async (_, at) => {
        const added = newFile('a', 10 + at);
        await files.add([added], noFileLimits, isStored);
        if (at % 3 === 0) await files.startDelete('a', added.file.id);
        if (at % 2 === 0) await files.correctUsage('a');
      }),
    );
    assert.deepEqual(await files.wrongUsages(), []);
  });
}
