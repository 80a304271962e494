import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { VectorSetKey } from '../../stores/search/vector-repository.ts';
import type { Database } from '../database/database.ts';
import { checkUnfinished } from '../database/problems.ts';
import { lockCounts, recount, setId, slots } from '../repositories/records/vector-sets.ts';

export interface DatabaseCheck {
  /** Describes the check in one sentence. */
  readonly checked: string;
  /** The errors, as the database reports them. An empty list means that no damage was found. */
  readonly findings: readonly string[];
  /** Errors in the search indexes, which a rebuild repairs. */
  readonly indexes: readonly DamagedIndex[];
}

export interface DamagedIndex {
  readonly collectionId: string;
  readonly finding: string;
}

const mostFindings = 100;

/** Reads the whole database and reports damage. The duration grows with the size of the database. */
export async function checkDatabase(database: Database): Promise<DatabaseCheck> {
  return database.dialect === 'sqlite' ? checkSqlite(database) : checkPostgres(database);
}

async function checkSqlite(database: Database): Promise<DatabaseCheck> {
  const checked =
    'SQLite: pragma integrity_check (every page, row and index), every segment of the search index, and the counts of vectors';
  try {
    const { rows } = await sql<object>`pragma integrity_check(${sql.lit(mostFindings)})`.execute(database.read);
    const messages = rows.flatMap((row) => Object.values(row)).map(String);
    if (messages.join() !== 'ok') return { checked, findings: messages, indexes: [] };
    return { checked, findings: [], indexes: await checkIndexes(database) };
  } catch (error) {
    return { checked, findings: [messageOf(error)], indexes: [] };
  }
}

/** Checks the search index and the counts of vectors of one collection after another. */
async function checkIndexes(database: Database): Promise<readonly DamagedIndex[]> {
  const { read } = database;
  const collections = await read.selectFrom('collection').select('id').where('status', '=', 'ready').execute();
  const damaged: DamagedIndex[] = [];
  for (const { id } of collections) {
    const findings = await checkCollection(database, id);
    damaged.push(...findings.map((finding) => ({ collectionId: id, finding })));
    if (damaged.length >= mostFindings) break;
  }
  return damaged;
}

/** Checks the search index of a collection and the counts of its vectors. */
export async function checkCollection(database: Database, collectionId: string): Promise<readonly string[]> {
  const ofIndex = await database.searchIndex.check(database.read, collectionId);
  return [...ofIndex, ...(await checkVectors(database, collectionId))];
}

/** The second rebuild is needed when the first one was already in progress. */
const mostRepairs = 2;

/**
 * Rebuilds the search index of a collection from its chunks.
 * @returns whether the index has no error now
 */
export async function repairIndex(database: Database, collectionId: string): Promise<boolean> {
  const { read, searchIndex } = database;
  for (let repairs = 0; repairs < mostRepairs; repairs++) {
    await rebuildIndex(database, collectionId);
    if ((await searchIndex.check(read, collectionId)).length === 0) return true;
  }
  return false;
}

/** Ends when another process has done the last step, so that no second rebuild begins. */
async function rebuildIndex({ write, searchIndex }: Database, collectionId: string): Promise<void> {
  const ofCollection = write.selectFrom('index_rebuild').select('chunks').where('collection_id', '=', collectionId);
  for (let isDone = false; !isDone; ) {
    const isFinished = await write
      .transaction()
      .execute((transaction) => searchIndex.rebuild(transaction, collectionId));
    isDone = isFinished || (await ofCollection.executeTakeFirst()) === undefined;
  }
}

/**
 * The number of pages that one statement reads. After a failure it reads a quarter of them, because a row may have long
 * values.
 */
const pagesPerStatement = 256;
/** The check ends after this many consecutive failures. */
const mostFailures = 6;
const pauseMs = 250;

/**
 * Reports corrupted data or indexes, a failed assertion about stored data, and files that are missing or cannot be
 * read. Source: PostgreSQL manual, appendix A.
 */
const corruption = /^(XX...|58...)$/;

/**
 * Reads every row of every table as text, because PostgreSQL has no check for roles without privileges. Reading detects
 * pages with wrong checksums, broken rows and missing parts of long values. It does not compare indexes.
 * @throws when the server interrupts the check, for example by a timeout, which is not a sign of damage
 */
async function checkPostgres(database: Database): Promise<DatabaseCheck> {
  const { read } = database;
  const checked =
    'PostgreSQL: every row of every table was read, every segment of the search index, and the counts of vectors; indexes of the server were not compared (use amcheck for them)';
  const { rows: tables } = await sql<{ name: string; pages: number }>`
    select c.oid::regclass::text as name, (pg_relation_size(c.oid) / current_setting('block_size')::int)::int as pages
    from pg_class c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace order by 1`.execute(read);
  const findings: string[] = [];
  for (const { name, pages } of tables) {
    let [from, step, failures] = [0, pagesPerStatement, 0];
    while (from < pages && findings.length < mostFindings) {
      const place = `${name}, pages ${from} to ${from + step - 1}`;
      try {
        await readPages(read, name, [from, from + step]);
      } catch (error) {
        const finding = corruptionIn(error);
        if (finding === undefined) {
          failures += 1;
          if (failures === mostFailures) throw checkUnfinished(place, error);
          step = Math.max(1, Math.floor(step / 4));
          await setTimeout(pauseMs);
          continue;
        }
        findings.push(`${place}: ${finding}`);
      }
      from += step;
      [step, failures] = [Math.min(pagesPerStatement, step * 2), 0];
    }
  }
  if (findings.length > 0) return { checked, findings, indexes: [] };
  return { checked, findings, indexes: await checkIndexes(database) };
}

async function readPages(read: Database['read'], name: string, [first, end]: readonly [number, number]): Promise<void> {
  await sql`select count(t::text) from ${sql.raw(name)} t
    where ctid >= ${sql.lit(`(${first},0)`)}::tid and ctid < ${sql.lit(`(${end},0)`)}::tid`.execute(read);
}

/**
 * Returns the server's message when it reports corruption. Searches the causes too, because errors of the service wrap
 * it.
 */
function corruptionIn(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && corruption.test(String(cause.code))) return cause.message;
  }
  return undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Compares the stored counts of a collection with its vectors. @returns one sentence for each error */
export async function checkVectors(database: Database, collectionId: string): Promise<readonly string[]> {
  const findings: string[] = [];
  for (const slot of slots) findings.push(...(await checkCounts(database, { collectionId, slot })));
  return findings;
}

async function checkCounts({ read }: Database, key: VectorSetKey): Promise<readonly string[]> {
  const counts = await recount(read, key);
  if (counts === undefined || isDeepStrictEqual(counts.stored, counts.counted)) return [];
  const { stored, counted } = counts;
  return [
    `the stored counts are ${stored.embedded} embedded and ${stored.refused} refused chunks, but there are ${counted.embedded} and ${counted.refused}`,
  ];
}

/** Stores the counts of the vectors that are there. */
export async function correctCounts({ write }: Database, collectionId: string): Promise<void> {
  await write.transaction().execute(async (transaction) => {
    for (const slot of slots) {
      const key = { collectionId, slot };
      await lockCounts(transaction, key);
      const counts = await recount(transaction, key);
      if (counts === undefined) continue;
      await transaction
        .updateTable('collection_vector')
        .set({ num_embedded: counts.counted.embedded, num_refused: counts.counted.refused })
        .where('id', '=', setId(key))
        .execute();
    }
  });
}
