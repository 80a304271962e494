import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { RecordCreate } from '@quartermaster/contract';
import pg from 'pg';
import { openCollectionServices } from '../../../app/service/collection-services.ts';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { createStreamShares } from '../../../platform/admission/stream-shares.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createNewId } from '../../../platform/identifier.ts';
import { createLogger } from '../../../platform/log/logger.ts';
import { openDatabase } from '../../../storage/open-database.ts';
import { createCollectionRepositories } from '../../../storage/repositories/records/collection-repositories.ts';
import type { Extractor } from '../../extraction/extraction.ts';
import { openPageReader } from '../../extraction/pages/open-page-reader.ts';
import { countTokens } from '../../extraction/tokens.ts';
import { openExtractor } from '../../extraction/worker/open-extractor.ts';
import type { FileAccess } from '../../files/file-access.ts';

/*
 * A process that creates records and is killed at a chosen point of the work. Its ports are real and wrapped. It first
 * finishes the work of the process before it.
 */

export interface KillPlan {
  /** The folder with the database, the sheet and the page. */
  readonly folder: string;
  /** The URL of a PostgreSQL database. Default: SQLite in the folder. */
  readonly url?: string;
  readonly projectId: string;
  readonly collectionId: string;
  readonly record: RecordCreate;
  /** Whether the record is first completed once, and the kill happens when it is created again. */
  readonly again: boolean;
  /** Replaces the chunks of all records with chunks of at most this size, instead of creating a record. Default: it creates one. */
  readonly chunkSize?: number;
  /** Null: the process is not killed. */
  readonly point: KillPoint | null;
}

export interface KillPoint {
  /** A method of the ports, for example `addChunks`. */
  readonly call: string;
  /** The number of the call, from 1. */
  readonly nth: number;
  readonly when: 'before' | 'during' | 'after';
  /** PostgreSQL only: the process is killed when it has sent this statement of the call. Default: at a random moment. */
  readonly statement?: number;
}

export const sheetId = 'file00000000000000sheet1';

const plan = JSON.parse(await readFile(process.argv[2] ?? '', 'utf8')) as KillPlan; // the test wrote it
const { projectId, collectionId } = plan;
let armed = false;
let writes = 0;
let calls = 0;

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

async function dieAtStatement<Result>(statement: number, call: () => Promise<Result>): Promise<Result> {
  const { query } = pg.Client.prototype;
  let sent = 0;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const answer: unknown = Reflect.apply(query, this, args);
    sent += 1;
    if (sent === statement) die();
    return answer;
  } as typeof query;
  const result = await call();
  pg.Client.prototype.query = query;
  return result;
}

/** Wraps the port. The process kills itself at the chosen call. */
function watched<T extends object>(port: T): T {
  return new Proxy(port, {
    get(target, name, receiver) {
      const method: unknown = Reflect.get(target, name, receiver);
      if (name !== plan.point?.call || typeof method !== 'function') return method;
      return (...args: unknown[]) => {
        if (armed) calls += 1;
        if (!armed || calls !== plan.point?.nth) return method.apply(target, args);
        if (plan.point.when === 'before') return die();
        const { statement } = plan.point;
        if (statement !== undefined) return dieAtStatement(statement, async () => method.apply(target, args));
        const answer: unknown = method.apply(target, args);
        // Kills at a random moment within the statements of the call.
        if (plan.point.when === 'during') setTimeout(die, Math.random() * 3);
        else void Promise.resolve(answer).then(die);
        return answer;
      };
    },
  });
}

/** Wraps the callback that receives the stages of the readers, which is one of the kill points. */
function withStages(extractor: Extractor): Extractor {
  const stages = watched({ parsing: () => undefined, chunking: () => undefined });
  return {
    extract: (task, signal) => {
      const onStage: typeof task.onStage = (stage, percent) => {
        stages[stage]();
        task.onStage(stage, percent);
      };
      return extractor.extract({ ...task, onStage }, signal);
    },
    close: extractor.close,
  };
}

/** Arms the kill when the work begins, or begins again, so that all later calls count. */
function arming<Args extends unknown[], Answer>(write: (...args: Args) => Answer) {
  return (...args: Args): Answer => {
    writes += 1;
    armed = writes === (plan.again && plan.chunkSize === undefined ? 2 : 1);
    return write(...args);
  };
}

const logger = createLogger('silent');
const newId = createNewId();
const admission = createAdmission();
const database = await openDatabase({ admission, url: plan.url ?? null, dataFolder: plan.folder, logger });
const sheet = await readFile(join(plan.folder, 'sheet.csv'));
const page = await readFile(join(plan.folder, 'page.html'));
const file = {
  id: sheetId,
  projectId,
  blobId: sheetId,
  name: 'sheet.csv',
  purpose: 'qa_record_file',
  extension: 'csv',
  bytes: sheet.byteLength,
  sha256: '',
} as const;
const files: FileAccess = {
  findFile: async () => file,
  open: async function* () {
    yield sheet;
  },
};
const created = createCollectionRepositories(database);
const { records } = created;
const repositories = {
  ...created,
  records: { ...records, add: arming(records.add), change: arming(records.change) },
  jobs: watched(created.jobs),
  rechunking: watched(created.rechunking),
  collections: { ...created.collections, change: arming(created.collections.change) },
};
const extractor = openExtractor({ admission, processes: 1, logger });
const services = openCollectionServices({
  repositories,
  files: watched(files),
  admission,
  shares: createStreamShares({ admission }),
  encrypter: null,
  extractor: withStages(watched(extractor)),
  pageReader: openPageReader({ admission, memoryMb: 1024, logger }),
  pages: watched({ fetch: async () => ({ kind: 'page', bytes: page, extension: 'html' }) as const }),
  countTokens,
  clock: systemClock,
  newId,
  logger,
  limits: { collections: 10, records: 1_000, waitingRecords: 1_000 },
  extractionProcesses: 1,
  alone: true,
  timing: { pollMs: 20, backoffMs: 10 },
});

async function settle(recordId: string): Promise<void> {
  const key = { projectId, collectionId, recordId };
  for await (const _ of services.events.follow(key, 'key', AbortSignal.timeout(60_000)));
}

async function settleAll(): Promise<void> {
  const unfinished = database.read.selectFrom('record').select('id').where('stage', '<>', 'done');
  const changed = database.read.selectFrom('collection').select('id').where('rechunking', '=', 1);
  for (;;) {
    const ids = (await unfinished.execute()).map(({ id }) => id);
    if (ids.length === 0 && (await changed.execute()).length === 0) return;
    for (const id of ids) await settle(id);
    await delay(1);
  }
}

await settleAll();
if (plan.chunkSize !== undefined) {
  await services.collections.update(projectId, collectionId, { chunking: { chunk_size: plan.chunkSize } });
} else if (plan.again) {
  const { record_id: recordId } = await services.records.create(
    { projectId, keyId: null, reach: null },
    collectionId,
    plan.record,
  );
  await settle(recordId);
  await settleAll();
  await services.records.retry({ projectId, keyId: null, reach: null, collectionId, recordId });
} else {
  await services.records.create({ projectId, keyId: null, reach: null }, collectionId, plan.record);
}
await settleAll();
await services.close();
await extractor.close();
await database.close();
