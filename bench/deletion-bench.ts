import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { createAdmission } from '../packages/server/src/platform/admission/admission.ts';
import { createNewId } from '../packages/server/src/platform/identifier.ts';
import { createLogger } from '../packages/server/src/platform/log/logger.ts';
import type { Database } from '../packages/server/src/storage/database/database.ts';
import { insertCollection, insertRecord } from '../packages/server/src/storage/database/testing/insert-rows.ts';
import { openDiskBlobStore } from '../packages/server/src/storage/disk/disk-blob-store.ts';
import { openDatabase } from '../packages/server/src/storage/open-database.ts';
import { createProjectDeletionRepository } from '../packages/server/src/storage/repositories/project-deletions.ts';
import { prepareChunks, toOwner } from '../packages/server/src/storage/repositories/records/chunk-rows.ts';
import { createTestDatabase, startPostgres } from '../test/support/postgres.ts';

const records = 100;
const chunksOfRecord = 1_000;
const files = 2_000;
const dimensions = 384;
const rowsAtOnce = 500;
const id = 'proj00000000000000000000';
const newId = createNewId();

interface Place {
  readonly url: string | null;
  readonly folder: string;
}

const open = ({ url, folder }: Place) =>
  openDatabase({ admission: createAdmission(), url, dataFolder: folder, logger: createLogger('silent') });

/** Deletes a project with 100,000 chunks and their vectors, and with 2,000 files, in both databases: once, and killed again and again. */
export async function measureDeletions(): Promise<void> {
  const server = await startPostgres();
  process.env.QUARTERMASTER_TEST_POSTGRES = server.url;
  try {
    for (const dialect of ['SQLite', 'PostgreSQL'] as const) {
      for (const isKilled of [false, true]) {
        const folder = await mkdtemp(join(tmpdir(), 'quartermaster-deletion-'));
        const test = dialect === 'SQLite' ? undefined : await createTestDatabase(async () => {});
        const place = { url: test?.url ?? null, folder };
        await fill(place);
        const kills = isKilled ? await deleteWithKills(place) : await deleteOnce(place);
        await report(place, `${dialect}, ${kills}`);
        await test?.drop();
        await rm(folder, { recursive: true });
      }
    }
  } finally {
    await server.stop();
  }
}

async function fill(place: Place): Promise<void> {
  const database = await open(place);
  const { write } = database;
  await write.insertInto('project').values({ id, name: 'large', created_at: 1 }).execute();
  const collectionId = await insertCollection(database, { project_id: id, capacity: 10 ** 9 });
  for (let record = 0; record < records; record += 1) {
    const columns = { project_id: id, num_chunks: chunksOfRecord };
    const recordId = await insertRecord(database, collectionId, columns);
    const target = { projectId: id, collectionId, recordId, generation: 1 };
    const owner = toOwner(recordId, { metadata: '{}', title: '', file: null });
    for (let from = 0; from < chunksOfRecord; from += rowsAtOnce) {
      const chunks = Array.from({ length: rowsAtOnce }, (_, at) => createChunk(record, from + at));
      const { insert } = await prepareChunks(database, { place: target, owner, chunks });
      await write.transaction().execute(insert);
    }
  }
  const zeros = Buffer.alloc(dimensions * 4);
  await sql`insert into chunk_vector (seq, collection_id, change, vector) select seq, collection_id, seq, ${zeros} from chunk`.execute(
    write,
  );
  await fillFiles(database, place.folder);
  await database.close();
}

function createChunk(record: number, ordinal: number) {
  const words = Array.from({ length: 60 }, (_, at) => `word${(record * 31 + ordinal * 7 + at * 13) % 20_000}`).join(
    ' ',
  );
  const none = { question: null, answer: null, locator: null };
  return { ...none, id: newId('chunk'), ordinal, content: words, words, numTokens: 80, metadata: {}, createdAt: 1 };
}

async function fillFiles({ write }: Database, folder: string): Promise<void> {
  for (let at = 0; at < files; at += 1) {
    const blob = newId('blob');
    const bucket = join(folder, 'blobs', blob.slice(4, 8));
    await mkdir(bucket, { recursive: true });
    await writeFile(join(bucket, blob), `file ${at}`);
    const common = { project_id: id, sha256: `${at}`, bytes: 1, state: 'live', created_at: 1 } as const;
    await write
      .insertInto('blob')
      .values({ ...common, id: blob })
      .execute();
    const file = {
      ...common,
      id: newId('file'),
      blob_id: blob,
      name: 'a.txt',
      purpose: 'record_file',
      extension: 'txt',
    };
    await write.insertInto('file').values(file).execute();
  }
}

/** Deletes the project. @returns the longest transaction and the longest delay of the event loop, in milliseconds */
async function erase(place: Place) {
  const database = await open(place);
  const blobs = await openDiskBlobStore(place.folder);
  let longest = 0;
  const write = new Proxy(database.write, {
    get(target, name) {
      if (name !== 'transaction') {
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'function' ? member.bind(target) : member;
      }
      return () => ({
        async execute(work: Parameters<ReturnType<typeof target.transaction>['execute']>[0]) {
          const began = performance.now();
          const result = await target.transaction().execute(work);
          longest = Math.max(longest, performance.now() - began);
          return result;
        },
      });
    },
  });
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  const deletions = createProjectDeletionRepository({ ...database, write });
  await deletions.begin(id, Date.now());
  const { signal } = new AbortController();
  await deletions.erase(id, { eraseBlob: blobs.remove, now: Date.now, signal });
  const delay = loop.max / 1e6;
  await blobs.close();
  await database.close();
  return { longest, delay };
}

async function deleteOnce(place: Place): Promise<string> {
  const { longest, delay } = await erase(place);
  return `longest transaction ${longest.toFixed(0)} ms, longest delay of the event loop ${delay.toFixed(0)} ms`;
}

async function deleteWithKills(place: Place): Promise<string> {
  let kills = 0;
  for (;;) {
    const child: ChildProcess = fork(import.meta.filename, [JSON.stringify(place)]);
    const ended = once(child, 'exit');
    await once(child, 'message');
    // Each process lives for up to a second.
    const isDone = await Promise.race([ended.then(() => true), pause(100 + ((kills * 137) % 900), false)]);
    if (isDone) return `${kills} kills`;
    child.kill('SIGKILL');
    await ended;
    kills += 1;
  }
}

async function report(place: Place, title: string): Promise<void> {
  const database = await open(place);
  const [deletion] = await createProjectDeletionRepository(database).list();
  const left: string[] = [];
  for (const table of [
    'project',
    'chunk',
    'chunk_vector',
    'record',
    'collection',
    'file',
    'blob',
    'index_segment',
    'index_page',
  ] as const) {
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(
      database.read,
    );
    if (Number(rows[0]?.count) > 0) left.push(`${table} ${rows[0]?.count}`);
  }
  const entries = await readdir(join(place.folder, 'blobs'), { recursive: true, withFileTypes: true });
  const bytes = entries.filter((entry) => entry.isFile()).length;
  const seconds = ((deletion?.endedAt ?? 0) - (deletion?.begunAt ?? 0)) / 1000;
  console.log(
    `${title}: ${deletion?.steps} steps in ${seconds.toFixed(1)} s; deleted ${JSON.stringify(deletion?.deleted)}; left: ${left.join() || '0 rows'}, ${bytes} contents`,
  );
  await database.close();
}

const [place] = process.argv.slice(2);
if (process.send !== undefined && place !== undefined) {
  process.send('begun');
  await erase(JSON.parse(place) as Place);
  process.disconnect?.();
}
