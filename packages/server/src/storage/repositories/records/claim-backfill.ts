import type { ListQuery } from '@quartermaster/contract';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Page } from '../../../platform/page.ts';
import type {
  BackfillClaim,
  BackfillEnd,
  BackfillJob,
  FailedChunk,
  VectorSetKey,
  VectorSlot,
} from '../../../stores/search/vector-repository.ts';
import type { Database } from '../../database/database.ts';
import { type KeysetWindow, readKeysetPage } from '../../database/keyset-page.ts';
import { claimedBy, isClaimable, isFree, isHeldBy, noLease, skipLocked } from '../../database/lease.ts';
import { countRows } from '../../database/row-limit.ts';
import type { Tables } from '../../database/tables.ts';
import {
  asChunkVector,
  changeCounts,
  lockCounts,
  lockSets,
  setId,
  swapSets,
  vectorTable,
  wantAll,
} from './vector-sets.ts';

/*
 * A backfill walks over the chunks of a collection in the order of their ids, one slice for each claim. `reached` is its
 * position. A chunk that loses its vector behind that position increments `wanted` and lowers `restart`, where the next
 * walk begins. Source: ADR 0136.
 */

export async function claimBackfill(
  { dialect, write }: Pick<Database, 'dialect' | 'write'>,
  claim: BackfillClaim,
): Promise<BackfillJob | undefined> {
  const due = { dialect, claim };
  if (claim.kind === 'confirm') return take(write, claim, firstToConfirm(due));
  return (
    (await take(write, claim, nextToEmbed(due, claim.afterProject))) ??
    (claim.afterProject === '' ? undefined : await take(write, claim, nextToEmbed(due, '')))
  );
}

interface Due {
  readonly dialect: Database['dialect'];
  readonly claim: BackfillClaim;
}

const firstToConfirm = ({ dialect, claim }: Due) => sql<string>`(select id from collection_vector
  where wanted > done and model = ${claim.model} and run_after = 0 and ${isFree('lease_until', claim)}
  order by run_after limit 1 ${skipLocked(dialect)})`;

/** The index leads from project to project, so the cost depends on the number of paused collections only. */
const nextToEmbed = ({ dialect, claim }: Due, afterProject: string) => sql<string>`(
  with recursive waiting (project_id) as (
    select min(project_id) from collection_vector where wanted > done and project_id > ${afterProject}
    union all
    select (select min(project_id) from collection_vector where wanted > done and project_id > waiting.project_id)
    from waiting where waiting.project_id is not null
  ), first (id) as (
    select (
      select collection_vector.id from collection_vector
      where collection_vector.project_id = waiting.project_id and wanted > done and model = ${claim.model}
        and ${isClaimable(claim)} and not exists (
          select 1 from collection where collection.id = collection_vector.collection_id and embedding_paused = 1
        )
      order by run_after limit 1 ${skipLocked(dialect)}
    ) from waiting where project_id is not null
  )
  select id from first where id is not null limit 1)`;

async function take(
  write: Kysely<Tables>,
  claim: BackfillClaim,
  id: RawBuilder<string>,
): Promise<BackfillJob | undefined> {
  const begin = claim.kind === 'confirm' ? sql<boolean>`1 = 1` : sql<boolean>`reached is null`;
  const row = await write
    .updateTable('collection_vector')
    .set({
      ...claimedBy(claim),
      // Not 0, so that the end of the lease finds the 0 of a retry that was requested during it.
      run_after: claim.now,
      reached: sql<string>`case when ${begin} then coalesce(restart, '') else reached end`,
      walk: sql<number>`case when ${begin} then wanted else walk end`,
      restart: sql<string | null>`case when ${begin} then null else restart end`,
    })
    .where('id', '=', id)
    .returning(['id', 'collection_id', 'slot', 'role', 'dimensions', 'project_id', 'reached', 'attempt'])
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { collection_id: collectionId, project_id: projectId, ...job } = row;
  return { ...job, collectionId, projectId, reached: row.reached ?? '', token: claim.token };
}

export async function endBackfill(
  write: Kysely<Tables>,
  held: BackfillJob,
  end: BackfillEnd,
): Promise<'swapped' | 'ended'> {
  if (held.role === 'live' || end.kind !== 'done') {
    await endLease(write, held, end);
    return 'ended';
  }
  return write.transaction().execute(async (transaction) => {
    await lockSets(transaction, held.collectionId);
    const row = await endLease(transaction, held, end);
    if (row?.role !== 'next' || row.wanted > row.done) return 'ended';
    await swapSets(transaction, held.collectionId);
    return 'swapped';
  });
}

const endLease = (write: Kysely<Tables>, held: BackfillJob, end: BackfillEnd) =>
  write
    .updateTable('collection_vector')
    .set({ ...noLease, ...columnsOf(end), ...errorOf(end, held.slot) })
    .where('id', '=', held.id)
    .where(isHeldBy(held))
    .returning(['role', 'wanted', 'done'])
    .executeTakeFirst();

function columnsOf(end: BackfillEnd) {
  switch (end.kind) {
    case 'done':
      return { done: sql<number>`walk`, reached: null, attempt: 0 };
    case 'continued':
      return { reached: end.reached, attempt: 0, run_after: end.runAfter };
    case 'deferred':
      return { run_after: sql<number>`case when run_after = 0 then run_after else ${end.runAfter} end` };
  }
}

/** Reads at most one failed text, along the index of failed texts. */
const hasNoFailedText = (slot: VectorSlot) => sql<boolean>`not exists (
  select 1 from ${sql.table(vectorTable(slot))} as chunk_vector
  where chunk_vector.collection_id = collection_vector.collection_id
    and chunk_vector.change > collection_vector.first_change and chunk_vector.vector is null)`;

function errorOf({ failure }: BackfillEnd, slot: VectorSlot) {
  if (failure === undefined) return {};
  if (failure !== null) return { error_reason: failure.reason, error_at: failure.at, error_retry_at: failure.retryAt };
  const unlessFailed = (column: string) =>
    sql<null>`case when ${hasNoFailedText(slot)} then null else ${sql.ref(column)} end`;
  return {
    error_reason: unlessFailed('error_reason'),
    error_at: unlessFailed('error_at'),
    error_retry_at: unlessFailed('error_retry_at'),
  };
}

/** Characters of a text that the list shows. */
const excerptLength = 200;

/** Maximum number of texts that one transaction marks, so that no other writer waits for long. */
const markedAtOnce = 1000;

/**
 * Lists the visible chunks whose text has failed, in the order of their failures, along the index of failed texts.
 * @returns undefined when a cursor is not in the list
 */
export async function listFailures(
  read: Kysely<Tables>,
  of: VectorSetKey,
  query: ListQuery,
): Promise<Page<FailedChunk> | undefined> {
  const cursors = [query.after, query.before].filter((cursor) => cursor !== undefined);
  const places = new Map(cursors.length === 0 ? [] : (await findFailed(read, of, cursors)).map((row) => [row.id, row]));
  if (cursors.some((cursor) => !places.has(cursor))) return undefined;
  const readPage = ({ bounds, direction, limit }: KeysetWindow) => {
    let rows = failedChunks(read, of);
    for (const { compare, id } of bounds) {
      const { change, seq } = places.get(id) ?? { change: 0, seq: 0 };
      rows = rows.where(sql<boolean>`(chunk_vector.change, chunk_vector.seq) ${sql.raw(compare)} (${change}, ${seq})`);
    }
    return rows.orderBy('chunk_vector.change', direction).orderBy('chunk_vector.seq', direction).limit(limit).execute();
  };
  const page = await readKeysetPage(query, readPage, () => countRows(read, failedChunks(read, of)));
  return {
    ...page,
    items: page.items.map(({ change: _, seq: __, reason, ...chunk }) => ({ ...chunk, reason: reason ?? '' })),
  };
}

function findFailed(read: Kysely<Tables>, of: VectorSetKey, ids: readonly string[]) {
  const ofCollection = failedChunks(read, of).where('chunk.collection_id', '=', of.collectionId);
  return ofCollection.where('chunk.id', 'in', ids).execute();
}

function failedChunks(read: Kysely<Tables>, { collectionId, slot }: VectorSetKey) {
  return read
    .selectFrom(asChunkVector(slot))
    .innerJoin('collection_vector', (on) => on.on('collection_vector.id', '=', setId({ collectionId, slot })))
    .innerJoin('chunk', 'chunk.seq', 'chunk_vector.seq')
    .leftJoin('record', 'record.id', 'chunk.record_id')
    .select((column) => [
      'chunk_vector.change',
      'chunk_vector.seq',
      'chunk.id',
      'chunk.record_id as recordId',
      sql<string>`substr(${column.fn.coalesce('chunk.question', 'chunk.content')}, 1, ${sql.lit(excerptLength)})`.as(
        'excerpt',
      ),
      'chunk_vector.reason',
      'chunk_vector.failures',
      'chunk_vector.retry_at as retryAt',
    ])
    .where('chunk_vector.collection_id', '=', collectionId)
    .where('chunk_vector.vector', 'is', null)
    .whereRef('chunk_vector.change', '>', 'collection_vector.first_change')
    .where((where) =>
      where.or([
        where('chunk.record_id', 'is', null),
        where.and([
          where('chunk.generation', '=', where.ref('record.generation')),
          where('record.status', '<>', 'deleting'),
        ]),
      ]),
    );
}

/**
 * Makes the next attempt of all failed texts of a set due now, refused ones included. A crash in between leaves some of them
 * as they were.
 */
export async function retryFailures(write: Database['write'], key: VectorSetKey, now: number): Promise<void> {
  let marked = await markSome(write, key, now);
  let update = write
    .updateTable('collection_vector')
    .set({ ...wantAll, run_after: 0 })
    .where('id', '=', setId(key))
    .where('role', '<>', 'kept');
  // A set without failed texts stays complete.
  if (marked === 0) update = update.whereRef('wanted', '>', 'done');
  while (marked === markedAtOnce) marked = await markSome(write, key, now);
  await update.execute();
}

function markSome(write: Database['write'], key: VectorSetKey, now: number): Promise<number> {
  return write.transaction().execute(async (transaction) => {
    const set = await lockCounts(transaction, key);
    if (set === undefined) return 0;
    const failed = await transaction
      .selectFrom(asChunkVector(key.slot))
      .select(['seq', 'retry_at'])
      .where('collection_id', '=', key.collectionId)
      .where('change', '>', set.first_change)
      .where('vector', 'is', null)
      .where((where) => where.or([where('retry_at', 'is', null), where('retry_at', '>', now)]))
      .limit(markedAtOnce)
      .execute();
    if (failed.length === 0) return 0;
    const seqs = failed.map(({ seq }) => seq);
    await transaction.updateTable(vectorTable(key.slot)).set({ retry_at: now }).where('seq', 'in', seqs).execute();
    const refused = failed.filter(({ retry_at }) => retry_at === null).length;
    await changeCounts(transaction, key, { embedded: 0, refused: -refused });
    return failed.length;
  });
}
