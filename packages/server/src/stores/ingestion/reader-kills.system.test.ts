import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import type { RecordCreate } from '@quartermaster/contract';
import { repeatsKills } from '../../../../../test/support/kill-depth.ts';
import type { CollectionServices } from '../../app/service/collection-services.ts';
import { createAdmission } from '../../platform/admission/admission.ts';
import { until } from '../../platform/testing/until.ts';
import type { Database } from '../../storage/database/database.ts';
import { createCollectionRepositories } from '../../storage/repositories/records/collection-repositories.ts';
import { createRecordJobRepository } from '../../storage/repositories/records/record-job-repository.ts';
import { contentOf, countStored } from '../collections/records/testing/record-contents.suite.ts';
import { addCollection } from '../collections/testing/fixtures.suite.ts';
import {
  createTestFiles,
  openTestCollections,
  openTestDatabase,
  openTestPostgres,
  silent,
} from '../collections/testing/test-collections.suite.ts';
import { openExtractor } from '../extraction/worker/open-extractor.ts';
import { children } from '../extraction/worker/testing/extractor.fixture.ts';

/* These tests kill the process that reads documents, as the kernel does when the machine has no memory left. */

/**
 * The point of the kill: before or after the nth call of this name in an attempt. `tries` is the number of attempts.
 */
interface KillPoint {
  readonly source: 'text' | 'sheet' | 'page';
  readonly call: string;
  readonly nth: number;
  readonly when: 'before' | 'after';
  readonly tries?: number;
  /** Whether the kill happens while a finished record is created again. */
  readonly again?: boolean;
}

/** More than one batch of the reader, so that it waits for the server in between. */
const parts = 1_200;
const sentence = (n: number) => `Sentence ${n} tells of the ${n % 17} foxes that live behind hill ${n * 7}.`;
const paragraphs = Array.from({ length: parts }, (_, n) => sentence(n));
/** Every tenth row has no answer. */
const sheet = paragraphs.map((text, n) => `question ${n},${n % 10 === 5 ? '' : text}`);

const splitter: NonNullable<RecordCreate['text_splitter']> = {
  type: 'separator',
  separators: ['\n'],
  chunk_size: 50,
  chunk_overlap: 0,
};

/** Kill points during the reading. The record still needs the reader, so there is one more attempt. */
const reading = ({ source, ...more }: Pick<KillPoint, 'source' | 'again' | 'tries'>): KillPoint[] =>
  [
    { call: 'parsing', nth: 1, when: 'before' } as const,
    { call: 'chunking', nth: 1, when: 'after' } as const,
    { call: 'addChunks', nth: 1, when: 'before' } as const,
    { call: 'addChunks', nth: 1, when: 'after' } as const,
    { call: 'addChunks', nth: 2, when: 'before' } as const,
    { call: 'addChunks', nth: 2, when: 'after' } as const,
  ].map((point) => ({ source, ...point, ...more }));
const rows: KillPoint[] = [
  { source: 'sheet', call: 'addRows', nth: 1, when: 'before' },
  { source: 'sheet', call: 'addRows', nth: 1, when: 'after' },
];
/** Kill points before the reader begins and after it has ended. Another attempt is possible but not required. */
const around = (source: KillPoint['source'], calls: readonly string[]): KillPoint[] =>
  calls.flatMap((call) => (['before', 'after'] as const).map((when) => ({ source, call, nth: 1, when })));

const needed = [
  ...reading({ source: 'text' }),
  ...reading({ source: 'sheet' }),
  ...reading({ source: 'page' }),
  ...rows,
  ...reading({ source: 'text', again: true }),
  ...reading({ source: 'sheet', tries: 2 }),
];
const idle = [
  ...around('text', ['remainingCapacity', 'saveCheckpoint', 'publish']),
  ...around('sheet', ['findFile', 'saveCheckpoint', 'publish']),
  ...around('page', ['fetch', 'saveCheckpoint', 'publish']),
];

/** One kill at each call, a record that is created again, and a second kill in the next attempt. */
const oneOfEachStage: { readonly needed: readonly KillPoint[]; readonly idle: readonly KillPoint[] } = {
  needed: [
    { source: 'text', call: 'parsing', nth: 1, when: 'before' },
    { source: 'sheet', call: 'chunking', nth: 1, when: 'after' },
    { source: 'page', call: 'addChunks', nth: 2, when: 'before' },
    { source: 'sheet', call: 'addRows', nth: 1, when: 'after' },
    { source: 'text', call: 'addChunks', nth: 1, when: 'after', again: true },
    { source: 'sheet', call: 'addChunks', nth: 2, when: 'after', tries: 2 },
  ],
  idle: [
    { source: 'text', call: 'remainingCapacity', nth: 1, when: 'before' },
    { source: 'sheet', call: 'findFile', nth: 1, when: 'after' },
    { source: 'sheet', call: 'saveCheckpoint', nth: 1, when: 'before' },
    { source: 'page', call: 'fetch', nth: 1, when: 'after' },
    { source: 'page', call: 'publish', nth: 1, when: 'before' },
  ],
};

test('[killed] after its reader is killed at each stage, in the proof 50 times, every record ends with the chunks of an undisturbed run', async (t) => {
  const all = [...needed, ...idle];
  assert.ok(all.length >= 50, `${all.length} kills are planned`);
  const calls = (list: readonly KillPoint[]) => new Set(list.map(({ call }) => call));
  const once = [...oneOfEachStage.needed, ...oneOfEachStage.idle];
  assert.deepEqual(calls(once).symmetricDifference(calls(all)), new Set(), 'each stage has a kill');
  await killReaders(t, await openTestDatabase(t), repeatsKills ? { needed, idle } : oneOfEachStage);
});

test('[killed] after its reader is killed at each stage on PostgreSQL, every record ends with the chunks of an undisturbed run', async (t) => {
  const database = await openTestPostgres(t);
  const some = [...reading({ source: 'sheet' }).slice(1), ...rows.slice(1)];
  await killReaders(t, database, { needed: some, idle: around('page', ['fetch']) });
});

test('a reader that is killed in every attempt ends the record in error, which names a lack of memory', async (t) => {
  const { services, ingest } = await openKills(t, await openTestDatabase(t));
  const result = await ingest({ source: 'text', call: 'chunking', nth: 1, when: 'before', tries: 99 });
  const record = await services.records.get(result.key);
  assert.deepEqual([record.status, record.error?.code, result.tries], ['error', 'memory_limit', 3]);
});

async function killReaders(
  t: TestContext,
  database: Database,
  points: { needed: readonly KillPoint[]; idle: readonly KillPoint[] },
): Promise<void> {
  const { ingest, undisturbed, settleAll } = await openKills(t, database);
  const expected = new Map<string, unknown>();
  for (const source of ['text', 'sheet', 'page'] as const) {
    const { key } = await undisturbed(source);
    expected.set(source, await readResult(database, key.recordId));
  }
  for (const point of [...points.needed, ...points.idle]) {
    const { key, tries, kills } = await ingest(point);
    assert.equal(kills, point.tries ?? 1, `killed at ${JSON.stringify(point)}`);
    if (points.needed.includes(point)) assert.equal(tries, kills + 1, JSON.stringify(point));
    assert.deepEqual(await readResult(database, key.recordId), expected.get(point.source), JSON.stringify(point));
  }
  await settleAll();
  const visible = await database.read.selectFrom('record').select('num_chunks').execute();
  const chunks = visible.reduce((sum, { num_chunks: number }) => sum + number, 0);
  assert.deepEqual(await countStored(database), { chunks, indexed: chunks, wrongKeys: 0 }, 'nothing else is left');
}

async function readResult(database: Database, recordId: string) {
  const records = database.read.selectFrom('record').selectAll().where('id', '=', recordId);
  const content = await contentOf(database, await records.executeTakeFirstOrThrow());
  assert.ok(content.chunks.length > 1_000, `${content.chunks.length} chunks`);
  return content;
}

/** Wraps ports. When the chosen call is reached, the reader is killed. */
function createHooks() {
  let point: KillPoint | undefined;
  const counts = { calls: 0, tries: 0, kills: 0 };

  function reached(call: string, when: KillPoint['when']): void {
    if (point?.call !== call || point.when !== when || counts.calls !== point.nth) return;
    if (counts.kills === (point.tries ?? 1)) return;
    counts.kills += 1;
    for (const pid of readers()) process.kill(pid, 'SIGKILL');
  }

  function watched<T extends object>(port: T): T {
    return new Proxy(port, {
      get(target, name, receiver) {
        const method: unknown = Reflect.get(target, name, receiver);
        if (typeof method !== 'function' || typeof name !== 'string') return method;
        return (...args: unknown[]) => {
          if (point?.call === name) counts.calls += 1;
          reached(name, 'before');
          const answer: unknown = method.apply(target, args);
          if (answer instanceof Promise) answer.then(() => reached(name, 'after')).catch(() => undefined);
          else reached(name, 'after');
          return answer;
        };
      },
    });
  }
  return {
    counts,
    watched,
    aim(next: KillPoint | undefined) {
      point = next;
      Object.assign(counts, { calls: 0, tries: 0, kills: 0 });
    },
    tryBegins: () => void Object.assign(counts, { calls: 0, tries: counts.tries + 1 }),
  };
}

/** Opens the services over the real, wrapped ports. */
function openServices(t: TestContext, database: Database, { watched, tryBegins }: ReturnType<typeof createHooks>) {
  const repository = createRecordJobRepository(database);
  const claim: typeof repository.claim = async (request) => {
    const job = await repository.claim(request);
    if (job !== undefined && request.kind === 'ingest') tryBegins();
    return job;
  };
  const stages = watched({ parsing: () => undefined, chunking: () => undefined });
  const extractor = openExtractor({ admission: createAdmission(), processes: 1, logger: silent });
  const extract: typeof extractor.extract = (task, signal) => {
    const onStage: typeof task.onStage = (stage, percent) => {
      stages[stage]();
      task.onStage(stage, percent);
    };
    return extractor.extract({ ...task, onStage }, signal);
  };
  const bytes = Buffer.from(`<main>${paragraphs.map((text) => `<p>${text}</p>`).join('\n')}</main>`);
  const files = createTestFiles();
  const services = openTestCollections(t, database, {
    files: watched(files),
    jobs: watched({ ...repository, claim }),
    pages: watched({ fetch: async () => ({ kind: 'page', bytes, extension: 'html' }) as const }),
    extractor: { extract, close: extractor.close },
    // A lease never expires on a busy machine, so every further attempt follows a kill.
    timing: { leaseMs: 600_000 },
  });
  return { services, files };
}

async function openKills(t: TestContext, database: Database) {
  const hooks = createHooks();
  const { services, files } = openServices(t, database, hooks);
  const texts = await addCollection(createCollectionRepositories(database), { type: 'text' });
  const { projectId } = texts;
  const pairs = await addCollection(createCollectionRepositories(database), { type: 'qa', projectId });
  const fileId = files.add(projectId, 'qa_record_file', 'sheet.csv', ['question,answer', ...sheet].join('\n'));
  const sources: Readonly<Record<KillPoint['source'], RecordCreate>> = {
    text: { content: paragraphs.join('\n'), text_splitter: splitter },
    sheet: { type: 'qa_sheet', file_id: fileId, on_duplicate: 'keep' },
    page: { type: 'web', url: 'https://example.org/', text_splitter: splitter },
  };

  async function create(source: KillPoint['source']) {
    const collectionId = source === 'sheet' ? pairs.id : texts.id;
    const { record_id: recordId } = await services.records.create(
      { projectId, keyId: null, reach: null },
      collectionId,
      sources[source],
    );
    return { projectId, collectionId, recordId };
  }

  async function undisturbed(source: KillPoint['source']) {
    hooks.aim(undefined);
    const key = await create(source);
    await settle(services, key);
    return { key };
  }

  async function ingest(point: KillPoint) {
    const before = point.again === true ? await undisturbed(point.source) : undefined;
    hooks.aim(point);
    const key = before?.key ?? (await create(point.source));
    if (before !== undefined) await services.records.retry({ ...key, keyId: null, reach: null });
    await settle(services, key);
    return { key, tries: hooks.counts.tries, kills: hooks.counts.kills };
  }

  async function settleAll(): Promise<void> {
    const unfinished = database.read.selectFrom('record').select('id').where('stage', '<>', 'done');
    await until(async () => (await unfinished.execute()).length === 0);
  }
  return { services, ingest: ingest, undisturbed, settleAll };
}

/** Returns the processes that read documents. Within bubblewrap each is a child of the process that was started. */
function readers(): number[] {
  return children().flatMap((pid) => {
    try {
      const isReader = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('/extraction/worker/child.ts');
      return isReader ? (children(pid)[0] ?? pid) : [];
    } catch {
      return []; // it has ended in the meantime
    }
  });
}

async function settle(
  services: Pick<CollectionServices, 'events'>,
  key: { projectId: string; collectionId: string; recordId: string },
): Promise<void> {
  for await (const _ of services.events.follow(key, 'key', AbortSignal.timeout(120_000)));
}
