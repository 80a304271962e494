import { setTimeout as pause } from 'node:timers/promises';
import { type DeletedCount, deletedCounts } from '@quartermaster/contract';
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type {
  EraseOptions,
  ProjectDeletion,
  ProjectDeletionRepository,
} from '../../access/projects/project-deletions.ts';
import { bytesOfFileName } from '../database/counted-bytes.ts';
import type { Database } from '../database/database.ts';
import { countDeleted } from '../database/deleted-projects.ts';
import type { ProjectDeletionTable } from '../database/project-deletion-table.ts';
import type { Tables } from '../database/tables.ts';
import { artifactPurpose } from './artifact-repository.ts';
import { nextChange } from './project-repository.ts';
import { changeUsage } from './project-usage.ts';
import { sweepCollection } from './records/lock-collection.ts';

type Counts = Partial<Record<DeletedCount, number>>;

/**
 * Deletes some rows of a project.
 * @returns undefined when there were none
 */
type Step = (transaction: Transaction<Tables>, projectId: string) => Promise<Counts | undefined>;

/** Maximum number of rows of one step. */
const rowsAtOnce = 500;
/** Milliseconds. */
const maxRevocationMs = 60_000;
/** For rows of up to some MiB, so that a step deletes about as many bytes as others. */
const longRowsAtOnce = 10;

interface RowsOfProject {
  readonly table: keyof Tables;
  /** The columns of the primary key. An index begins with `project_id`. */
  readonly key: readonly string[];
  readonly limit?: number;
  /** The count of the report to which the rows belong. */
  readonly counted?: DeletedCount;
}

/** The tables whose rows can be deleted in any order. A new table with a `project_id` becomes a line here. */
const rowsOfProject: readonly RowsOfProject[] = [
  { table: 'credential_profile', key: ['id'], counted: 'credential_profiles' },
  { table: 'oauth_record', key: ['model', 'hash'] },
  { table: 'oauth_grant', key: ['id'] },
  { table: 'member', key: ['project_id', 'account_id'] },
  { table: 'rate_usage', key: ['rate_limit_id', 'subject_id', 'kind'] },
  { table: 'rate_limit', key: ['id'], limit: longRowsAtOnce },
  { table: 'run_request', key: ['project_id', 'run_id'], limit: longRowsAtOnce },
  { table: 'run_result', key: ['project_id', 'run_id'], limit: longRowsAtOnce },
  { table: 'run', key: ['project_id', 'id'], counted: 'runs' },
  { table: 'idempotency', key: ['project_id', 'operation', 'key', 'caller_id'], limit: longRowsAtOnce },
  { table: 'kept_answer_usage', key: ['project_id'] },
  { table: 'input_keeper', key: ['project_id'] },
  { table: 'record_key_turn', key: ['project_id'] },
];

/** Contents are marked, so that `eraseBlobs` finds them also after a crash. The work in a collection ends when it is being deleted. */
const steps: readonly Step[] = [
  markDeleting('collection', 'status', 'ready'),
  ...rowsOfProject.map(deleteRows),
  markDeleting('blob', 'state', 'live'),
  deleteFiles,
  deleteKeys,
];

/** Deletes projects in either database. */
export function createProjectDeletionRepository(database: Database): ProjectDeletionRepository {
  const { read, write } = database;
  const running = read.selectFrom('project_deletion').select('project_id').where('ended_at', 'is', null);
  const all = read.selectFrom('project_deletion').selectAll().orderBy('project_id');
  return {
    begin: (projectId, now) =>
      write.transaction().execute((transaction) => begin(database, transaction, { projectId, now })),
    list: async () => (await all.execute()).map(toDeletion),
    findRunning: async () => (await running.orderBy('project_id').execute()).map((row) => row.project_id),
    erase: (projectId, options) => erase(database, projectId, options),
  };
}

/** Locks rows in the order of the transactions that create keys: the number of changes, then the project. */
async function begin(
  { dialect }: Database,
  transaction: Transaction<Tables>,
  { projectId, now }: { readonly projectId: string; readonly now: number },
): Promise<ProjectDeletion | undefined> {
  const change = await nextChange(transaction);
  const project = transaction.selectFrom('project').select('name').where('id', '=', projectId);
  // Waits for every transaction that `findDeleted` has let add something.
  const row = await (dialect === 'postgres' ? project.forUpdate() : project).executeTakeFirst();
  const known = await findDeletion(transaction, projectId);
  if (known !== undefined || row === undefined) return known;
  const { name } = row;
  await transaction.insertInto('project_deletion').values({ project_id: projectId, name, begun_at: now }).execute();
  // The name is free for another project.
  await transaction.updateTable('project').set({ name: projectId }).where('id', '=', projectId).execute();
  await sql`update api_key set revoked_at = ${now}, change = ${change} where project_id = ${projectId}
    and revoked_at is null and (expires_at is null or expires_at > ${now})`.execute(transaction);
  await sql`update oauth_grant set revoked_at = ${now} where project_id = ${projectId} and revoked_at is null`.execute(
    transaction,
  );
  return await findDeletion(transaction, projectId);
}

async function erase(database: Database, projectId: string, options: EraseOptions): Promise<ProjectDeletion> {
  const { write, read } = database;
  await awaitRevocations(database, projectId, options);
  for (let isDone = false; !isDone; ) {
    for (const step of steps) {
      for (let found = true; found; ) {
        options.signal.throwIfAborted();
        found = await write.transaction().execute(async (transaction) => {
          if (step !== deleteKeys) await lockDeletion(database, transaction, projectId);
          return await take(step, transaction, projectId);
        });
      }
    }
    await eraseBlobs(database, projectId, options);
    await sweepCollections(database, projectId, options.signal);
    isDone = await write.transaction().execute((transaction) => finish(database, transaction, { projectId, options }));
  }
  const deletion = await findDeletion(read, projectId);
  if (deletion === undefined) throw new Error(`no deletion of the project ${projectId}`);
  return deletion;
}

/**
 * Waits until a process that serves plugins has revoked and removed the connections. After a time the rows are deleted in any case, because
 * no such process may run, or the providers may not answer.
 */
async function awaitRevocations({ read }: Database, projectId: string, options: EraseOptions): Promise<void> {
  const { signal, revocationMs = maxRevocationMs } = options;
  const connections = read.selectFrom('credential_profile').select('id').where('project_id', '=', projectId);
  const first = connections.where('end_user', 'is not', null).limit(1);
  const end = performance.now() + revocationMs;
  while (performance.now() < end && (await first.executeTakeFirst()) !== undefined) {
    await pause(Math.min(250, revocationMs), undefined, { signal });
  }
}

/**
 * Makes two processes take turns. Otherwise the one that waits for the rows of the other deletes none, takes its step for done, and deletes
 * what rows still refer to. The step of the keys has a lock that comes before this one.
 */
async function lockDeletion({ dialect }: Database, transaction: Transaction<Tables>, projectId: string): Promise<void> {
  const deletion = transaction.selectFrom('project_deletion').select('project_id').where('project_id', '=', projectId);
  if (dialect === 'postgres') await deletion.forUpdate().execute();
}

async function take(step: Step, transaction: Transaction<Tables>, projectId: string): Promise<boolean> {
  const counts = await step(transaction, projectId);
  if (counts !== undefined) await countDeleted(transaction, projectId, counts);
  return counts !== undefined;
}

function deleteRows({ table, key, limit = rowsAtOnce, counted }: RowsOfProject): Step {
  const [name, columns] = [sql.table(table), sql.join(key.map((column) => sql.ref(column)))];
  return async (transaction, projectId) => {
    const { numAffectedRows } = await sql`delete from ${name} where (${columns}) in
      (select ${columns} from ${name} where project_id = ${projectId} limit ${limit})`.execute(transaction);
    const rows = Number(numAffectedRows ?? 0);
    if (rows === 0) return undefined;
    return counted === undefined ? {} : { [counted]: rows };
  };
}

function markDeleting(table: 'blob' | 'collection', column: string, from: string): Step {
  const [name, state] = [sql.table(table), sql.ref(column)];
  return async (transaction, projectId) => {
    // A parameter would make a partial index unusable.
    const { numAffectedRows } = await sql`update ${name} set ${state} = 'deleting' where id in
      (select id from ${name} where project_id = ${projectId} and ${state} = ${sql.lit(from)} limit ${rowsAtOnce})`.execute(
      transaction,
    );
    return numAffectedRows === 0n ? undefined : {};
  };
}

/** Deletes rows of files and, by cascade, of artifacts. */
async function deleteFiles(transaction: Transaction<Tables>, projectId: string): Promise<Counts | undefined> {
  const files = transaction.selectFrom('file').select('id').where('project_id', '=', projectId).limit(rowsAtOnce);
  const deleted = await transaction
    .deleteFrom('file')
    .where('id', 'in', files)
    .returning(['state', 'purpose', 'bytes', bytesOfFileName.as('name_bytes')])
    .execute();
  if (deleted.length === 0) return undefined;
  const live = deleted.filter(({ state }) => state === 'live');
  const bytes = live.reduce((sum, file) => sum + Number(file.bytes), 0);
  const textBytes = live.reduce((sum, file) => sum + Number(file.name_bytes), 0);
  await changeUsage(transaction, projectId, { files: -live.length, bytes: -bytes, textBytes: -textBytes });
  const artifacts = deleted.filter(({ purpose }) => purpose === artifactPurpose).length;
  return { files: deleted.length - artifacts, artifacts };
}

/** The number of the change makes each process load its keys again, because it finds no row of a deleted key. */
async function deleteKeys(transaction: Transaction<Tables>, projectId: string): Promise<Counts | undefined> {
  const keys = transaction.selectFrom('api_key').select('id').where('project_id', '=', projectId).limit(rowsAtOnce);
  if ((await keys.executeTakeFirst()) === undefined) return undefined;
  const change = await nextChange(transaction);
  const { numDeletedRows } = await transaction.deleteFrom('api_key').where('id', 'in', keys).executeTakeFirstOrThrow();
  const deletion = transaction.updateTable('project_deletion').set({ key_change: change });
  await deletion.where('project_id', '=', projectId).execute();
  return { keys: Number(numDeletedRows) };
}

async function sweepCollections(database: Database, projectId: string, signal: AbortSignal): Promise<void> {
  const first = database.read.selectFrom('collection').select('id').where('project_id', '=', projectId).orderBy('id');
  for (;;) {
    const collection = await first.where('status', '=', 'deleting').limit(1).executeTakeFirst();
    if (collection === undefined) return;
    await sweepCollection(database, { collectionId: collection.id, limit: rowsAtOnce }, signal);
  }
}

const blobsAtOnce = 100;

/** Erases contents, then deletes their rows. One that cannot be erased does not delay the others. */
async function eraseBlobs({ read, write }: Database, projectId: string, { eraseBlob, signal }: EraseOptions) {
  let failure: unknown;
  for (let after = ''; ; ) {
    const { rows: blobs } = await sql<{ id: string }>`select id from blob where project_id = ${projectId}
      and state = 'deleting' and id > ${after} order by id limit ${blobsAtOnce}`.execute(read);
    const erased: string[] = [];
    for (const { id } of blobs) {
      signal.throwIfAborted();
      after = id;
      await eraseBlob(id).then(
        () => erased.push(id),
        (error: unknown) => {
          failure = error;
        },
      );
    }
    if (erased.length > 0)
      await write.transaction().execute((transaction) => deleteBlobs(transaction, projectId, erased));
    if (blobs.length < blobsAtOnce) break;
  }
  if (failure !== undefined) throw failure;
}

async function deleteBlobs(transaction: Transaction<Tables>, projectId: string, ids: readonly string[]): Promise<void> {
  const rows = transaction.deleteFrom('blob').where('id', 'in', ids).where('state', '=', 'deleting');
  const deleted = await rows.returning('bytes').execute();
  await countDeleted(transaction, projectId, { bytes: deleted.reduce((sum, blob) => sum + Number(blob.bytes), 0) });
}

interface Finish {
  readonly projectId: string;
  readonly options: EraseOptions;
}

/**
 * Deletes the project when nothing of it is left.
 * @returns false when something was added before the deletion began, by a transaction that has ended since
 */
async function finish(
  { dialect }: Database,
  transaction: Transaction<Tables>,
  { projectId, options }: Finish,
): Promise<boolean> {
  // Locks in the order of `begin`.
  await nextChange(transaction);
  const project = transaction.selectFrom('project').select('id').where('id', '=', projectId);
  await (dialect === 'postgres' ? project.forUpdate() : project).execute();
  for (const step of steps) if (await take(step, transaction, projectId)) return false;
  // The step above has found no live blob, and the index of the others is short.
  const left = (table: 'blob' | 'collection') =>
    transaction.selectFrom(table).select('id').where('project_id', '=', projectId).limit(1);
  for (const rows of [left('blob').where('state', '=', sql.lit('deleting')), left('collection')]) {
    if ((await rows.executeTakeFirst()) !== undefined) return false;
  }
  await transaction.deleteFrom('project_usage').where('project_id', '=', projectId).execute();
  await transaction.updateTable('record_turn').set({ project_id: '' }).where('project_id', '=', projectId).execute();
  await transaction.deleteFrom('project').where('id', '=', projectId).execute();
  await countDeleted(transaction, projectId, {});
  await sql`update project_deletion set ended_at = ${options.now()}
    where project_id = ${projectId} and ended_at is null`.execute(transaction);
  return true;
}

async function findDeletion(db: Kysely<Tables>, projectId: string): Promise<ProjectDeletion | undefined> {
  const deletion = db.selectFrom('project_deletion').selectAll().where('project_id', '=', projectId);
  const row = await deletion.executeTakeFirst();
  return row && toDeletion(row);
}

function toDeletion(row: Selectable<ProjectDeletionTable>): ProjectDeletion {
  const counts = deletedCounts.map((name) => [name, Number(row[name])]);
  return {
    projectId: row.project_id,
    name: row.name,
    begunAt: row.begun_at,
    endedAt: row.ended_at,
    steps: Number(row.steps),
    deleted: Object.fromEntries(counts) as ProjectDeletion['deleted'], // of all names
  };
}
