import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

const shards = 16;
const endOfTag = '\u0082';
const chunksAtOnce = 50_000;

/**
 * SQLite: replaces the index of each collection with a few indexes that all collections share. The words of each chunk
 * are read from the old index, so no text is tokenized again. PostgreSQL already has shared tables. Source:
 * ADR 0051.
 */
export function createSharedFullTextMigration(dialect: Database['dialect']): Migration {
  return {
    async up(db) {
      if (dialect === 'postgres') return;
      await sql`create table full_text_place (
        number integer primary key autoincrement,
        collection_id text not null unique references collection (id) deferrable initially deferred,
        cleared_to text
      ) strict`.execute(db);
      for (let shard = 0; shard < shards; shard++) {
        const index = sql.id(`full_text_index_${shard}`);
        await sql`create virtual table ${index} using fts5(words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii')`.execute(
          db,
        );
        await sql`create virtual table ${sql.id(`full_text_terms_${shard}`)} using fts5vocab(${index}, 'row')`.execute(
          db,
        );
      }
      await sql`insert into full_text_place (collection_id) select collection_id from full_text order by collection_id`.execute(
        db,
      );
      const { rows } = await sql<OldIndex>`select number, collection_id from full_text_place`.execute(db);
      for (const old of rows) await moveIndex(db, old);
      // For a collection that is being deleted, the old index may be the only remaining part.
      const { rows: left } = await sql<{ name: string }>`
        select name from sqlite_schema where type = 'table' and (name like 'terms\\_coll%' escape '\\' or name like 'fts\\_coll%' escape '\\')
          and sql like 'create virtual table%' order by name desc`.execute(db);
      for (const { name } of left) await sql`drop table ${sql.id(name)}`.execute(db);
    },
  };
}

interface OldIndex {
  readonly number: number;
  readonly collection_id: string;
}

async function moveIndex(db: Kysely<unknown>, { number, collection_id: id }: OldIndex): Promise<void> {
  const { rows } = await sql`select 1 from sqlite_schema where name = ${`fts_${id}`}`.execute(db);
  if (rows.length === 0) return;
  const place = sql.id(`full_text_index_${number % shards}`);
  const tag = number.toString(36) + endOfTag;
  await sql`create virtual table temp.old_terms using fts5vocab('main', ${sql.lit(`fts_${id}`)}, 'instance')`.execute(
    db,
  );
  for (let from: number | null = 0; from !== null; ) {
    const next: number | null = await findNext(db, id, from);
    const before = next === null ? sql`` : sql`and doc < ${next}`;
    await sql`insert into ${place} (rowid, words)
      select doc, group_concat(${tag} || term, ' ') from temp.old_terms where doc >= ${from} ${before} group by doc`.execute(
      db,
    );
    from = next;
  }
  await sql`drop table temp.old_terms`.execute(db);
  await sql`drop table if exists ${sql.id(`terms_${id}`)}`.execute(db);
  await sql`drop table ${sql.id(`fts_${id}`)}`.execute(db);
}

/**
 * Finds the chunk where the next batch begins. A batch is bounded, because sorting the words takes 5 KB of memory per
 * chunk.
 */
async function findNext(db: Kysely<unknown>, id: string, from: number): Promise<number | null> {
  const { rows } = await sql<{ id: number }>`
    select id from ${sql.id(`fts_${id}_docsize`)} where id >= ${from} order by id limit 1 offset ${chunksAtOnce}`.execute(
    db,
  );
  return rows[0]?.id ?? null;
}
