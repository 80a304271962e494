import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import { restorableMs } from '../../../stores/collections/records/record-repository.ts';
import {
  type IngestedRecord,
  type RecordClaim,
  type RecordJob,
  smallRecordBytes,
} from '../../../stores/ingestion/record-job-repository.ts';
import type { RecordTable } from '../../database/collection-tables.ts';
import type { Database } from '../../database/database.ts';
import { claimedBy, isClaimable, isFree, skipLocked } from '../../database/lease.ts';
import type { Tables } from '../../database/tables.ts';
import { readChunking } from './collection-repository.ts';
import { toSource } from './source-columns.ts';

/**
 * Claims the next record. Projects alternate: a row names the project whose record was claimed last. The next claim
 * goes to the following project by id that has a waiting record. The keys of each project alternate likewise. Source: ADR 0006.
 */
export function claimRecord({ dialect, write }: Database, claim: RecordClaim): Promise<RecordJob | undefined> {
  if (claim.kind === 'sweep') return take(write, claim, nextToSweep(dialect, claim));
  const next = nextWaiting(dialect, claim);
  if (dialect === 'postgres') return takeInTurn(write, claim, next);
  return write.transaction().execute(async (transaction) => {
    const id = (await next.execute(transaction)).rows[0]?.id;
    if (id === undefined) return undefined;
    const job = await take(transaction, claim, sql<string>`${id}`);
    if (job === undefined) return undefined;
    const { projectId: project_id, keyId: key_id } = job;
    await transaction.updateTable('record_turn').set({ project_id }).execute();
    const remembered = transaction.insertInto('record_key_turn').values({ project_id, key_id });
    await remembered.onConflict((of) => of.column('project_id').doUpdateSet({ key_id })).execute();
    return job;
  });
}

/** Projects with a greater id come first. */
const lastProject = sql<string>`(select project_id from record_turn where id = 1)`;

/**
 * Selects the first waiting record of the next key of the first project that has one. The index leads from project to project,
 * so the cost does not depend on the number of waiting records. The second lap begins again with the first project.
 */
function nextWaiting(dialect: Database['dialect'], claim: RecordClaim): RawBuilder<{ id: string }> {
  const isSmall = claim.reserved === undefined ? sql`` : sql`and source_bytes <= ${smallRecordBytes}`;
  const isIdle = claim.reserved === 'project' ? sql`and project_id not in (${inProgress('project_id', claim)})` : sql``;
  const isOfIdleKey =
    claim.reserved === 'key'
      ? sql`and key_id not in (${inProgress('key_id', claim)} and project_id = waiting.project_id)`
      : sql``;
  const firstOf = (keys: RawBuilder<boolean>) => sql<string | null>`(
    select id from record where record.project_id = waiting.project_id and status = 'creating' and ${keys}
      and ${isClaimable(claim)} ${isSmall} ${isOfIdleKey}
    order by key_id, claim_order, id limit 1 ${skipLocked(dialect)}
  )`;
  const lastKey = sql`(select key_id from record_key_turn where record_key_turn.project_id = waiting.project_id)`;
  return sql<{ id: string }>`
    with recursive waiting (project_id, lap) as (
      select min(project_id), 1 from record where status = 'creating' and project_id > ${lastProject}
      union all
      select (select min(project_id) from record where status = 'creating' and project_id > coalesce(waiting.project_id, '')),
        case when waiting.project_id is null then 2 else lap end
      from waiting where lap = 1 or waiting.project_id <= ${lastProject}
    ), first (id) as (
      select coalesce(${firstOf(sql`key_id > ${lastKey}`)}, ${firstOf(sql`true`)}) from waiting where project_id is not null ${isIdle}
    )
    select id from first where id is not null limit 1`;
}

/** Selects the projects or keys that have a record in progress. */
function inProgress(column: 'project_id' | 'key_id', claim: RecordClaim): RawBuilder<string> {
  return sql`select ${sql.ref(column)} from record
    where lease_owner is not null and not ${isFree('lease_until', claim)} and status = 'creating'`;
}

/**
 * Selects the record whose time came first. If there is none, one whose time is further in the future than any: a process whose
 * clock was ahead wrote it. Both are ranges of an index, so records that can be restored cost nothing until their time.
 */
function nextToSweep(dialect: Database['dialect'], claim: RecordClaim): RawBuilder<string> {
  const first = (isDue: RawBuilder<boolean>) => sql`(select id from record
    where stage = 'sweeping' and ${isDue} and ${isFree('lease_until', claim)}
    order by run_after, id limit 1 ${skipLocked(dialect)})`;
  const furthest = claim.now + 2 * restorableMs;
  return sql<string>`coalesce(${first(sql`run_after <= ${claim.now}`)}, ${first(sql`run_after > ${furthest}`)})`;
}

/**
 * Takes the record and remembers the turns with one statement of PostgreSQL, so that no claim waits for the answers that another
 * one gets. It skips records that others claim at the same time. A turn that another claim has moved meanwhile stays.
 */
async function takeInTurn(
  write: Kysely<Tables>,
  claim: RecordClaim,
  next: RawBuilder<{ id: string }>,
): Promise<RecordJob | undefined> {
  const { rows } = await sql<Selectable<RecordTable> & Settings>`
    with next as materialized (${next}),
    taken as (${claimOne(write, claim, sql`(select id from next)`)}),
    turn as (
      update record_turn set project_id = (select project_id from taken) where id = (select id from record_turn
        where project_id = ${lastProject} and exists (select from taken) ${skipLocked('postgres')})
    ),
    key_turn as (
      insert into record_key_turn (project_id, key_id) select project_id, key_id from taken
      on conflict (project_id) do update set key_id = excluded.key_id
    )
    select taken.*, ${settingsFor({ id: sql.ref('taken.id'), generation: sql.ref('taken.generation') })}
    from taken join collection on collection.id = taken.collection_id`.execute(write);
  return rows[0] && toJob(claim, rows[0], rows[0]);
}

function claimOne(db: Kysely<Tables>, claim: RecordClaim, id: RawBuilder<string>) {
  return db
    .updateTable('record')
    .set(() => ({
      ...claimedBy(claim),
      // An incomplete generation is created again, including its keys.
      keyed_to: sql<number | null>`case when made is null then null else keyed_to end`,
      next_bytes: sql<number>`case when made is null then 0 else next_bytes end`,
    }))
    .where('id', '=', id)
    .returningAll();
}

async function take(db: Kysely<Tables>, claim: RecordClaim, id: RawBuilder<string>): Promise<RecordJob | undefined> {
  const row = await claimOne(db, claim, id).executeTakeFirst();
  if (row === undefined) return undefined;
  const { rows } = await sql<Settings>`
    select ${settingsFor(row)} from collection where collection.id = ${row.collection_id}`.execute(db);
  return toJob(claim, row, rows[0]);
}

/** The settings of the collection of a record, and the facts that a job needs. */
interface Settings {
  readonly settings: string | null;
  readonly settings_version: number;
  readonly capacity: number;
  readonly has_leftovers: unknown;
  readonly has_more: unknown;
}

/** Selects the settings. A record has more to do when another one waits; those in progress are few. */
const settingsFor = (record: Parameters<typeof leftoversOf>[0]) => sql`
  collection.chunking as settings, collection.chunking_version as settings_version, collection.capacity,
  ${leftoversOf(record)} as has_leftovers,
  exists (select 1 from record where status = 'creating' and lease_owner is null and id <> ${record.id}) as has_more`;

function toJob(claim: RecordClaim, row: Selectable<RecordTable>, settings: Settings | undefined): RecordJob {
  return {
    id: row.id,
    projectId: row.project_id,
    keyId: row.key_id,
    collectionId: row.collection_id,
    ...toSource(row),
    metadata: row.metadata,
    encryptedPassword: row.encrypted_password,
    token: claim.token,
    attempt: row.attempt,
    deadlineAt: row.deadline_at,
    workedMs: Number(row.worked_ms),
    generation: row.generation,
    chunking: readChunking(settings?.settings ?? null),
    chunkingVersion: settings?.settings_version ?? 0,
    capacity: settings?.capacity ?? 0,
    hasLeftovers: Boolean(settings?.has_leftovers ?? true),
    isLast: claim.kind === 'ingest' && settings !== undefined && !settings.has_more,
    isRechunked: row.rechunked_from !== null,
    checkpoint: row.made === null ? null : (JSON.parse(row.made) as IngestedRecord), // written by saveCheckpoint
  };
}

/** True when chunks or rows of the record belong to a generation that is not visible. */
function leftoversOf({ id, generation }: Readonly<Record<'id' | 'generation', unknown>>): RawBuilder<unknown> {
  const others = (table: 'chunk' | 'record_row', than: RawBuilder<unknown>) =>
    sql`exists (select 1 from ${sql.table(table)} where record_id = ${id} and generation ${than} ${generation})`;
  const tables = ['chunk', 'record_row'] as const;
  return sql`(${sql.join(
    tables.flatMap((table) => [others(table, sql`<`), others(table, sql`>`)]),
    sql` or `,
  )})`;
}
