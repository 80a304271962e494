import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { createSharedFullTextMigration } from '../database/migrations/0020-shared-full-text.ts';
import { insertCollection } from '../database/testing/insert-rows.ts';
import { openTemporaryDatabase, type TemporaryDatabase } from '../database/testing/open-temporary-database.ts';
import { sweepCollection } from '../repositories/records/sweep-collection.ts';
import { createSqliteFullText } from './sqlite-full-text.ts';
import { testCommonWords } from './testing/full-text.suite.ts';
import { type Corpus, createCorpus } from './testing/full-text-corpus.suite.ts';

const shards = 16;
let temporary: TemporaryDatabase;
let database: Database;
before(async () => {
  temporary = await openTemporaryDatabase();
  database = temporary.database;
});
after(() => temporary.close());

async function readOne<Value>(query: string): Promise<Value | undefined> {
  const { rows } = await sql<{ value: Value }>`${sql.raw(query)}`.execute(database.write);
  return rows[0]?.value;
}
const tablesNow = () => readOne<number>('select schema_version as value from pragma_schema_version');

async function chunksIndexed(): Promise<number> {
  let count = 0;
  for (let shard = 0; shard < shards; shard++) {
    count += (await readOne<number>(`select count(*) as value from full_text_index_${shard}_docsize`)) ?? 0;
  }
  return count;
}

/** Creates a collection with an index of FTS5, as earlier versions did. */
async function insertOldCollection(): Promise<string> {
  const id = await insertCollection(database);
  await database.write.transaction().execute((trx) => createSqliteFullText().create(trx, id));
  return id;
}

async function remove(collectionId: string): Promise<void> {
  await database.write.updateTable('collection').set({ status: 'deleting' }).where('id', '=', collectionId).execute();
  await sweepCollection(database, { collectionId, limit: 2 }, new AbortController().signal);
}

test('collections share no words and no counts, need no new tables, and leave nothing behind', async () => {
  const tables = await tablesNow();
  const corpora = [];
  for (let n = 0; n < 2 * shards + 5; n++) {
    const id = await insertOldCollection();
    const corpus = createCorpus(database, id);
    const texts = Array.from({ length: 1 + (n % 4) }, () => `water w${n}`);
    corpora.push({ id, corpus, seqs: await corpus.add(...texts, 'earth') });
  }
  for (const { corpus, seqs } of corpora) {
    const found = await corpus.search(['water', 'earth'], 100);
    assert.deepEqual(found.map(({ seq }) => seq).sort(), [...seqs].sort());
  }
  const alike = corpora.filter(({ seqs }) => seqs.length === 3);
  const scores = await Promise.all(alike.map(({ corpus }) => corpus.search(['water'])));
  assert.equal(new Set(scores.map((found) => found[0]?.score)).size, 1, 'the same texts have the same score');

  const [remaining, ...others] = corpora;
  const before = await remaining?.corpus.search(['water', 'earth']);
  for (const { id } of others) await remove(id);
  assert.deepEqual(await remaining?.corpus.search(['water', 'earth']), before);
  assert.equal(await chunksIndexed(), remaining?.seqs.length);
  await remove(remaining?.id ?? '');
  assert.equal(await chunksIndexed(), 0);
  assert.equal(await readOne('select count(*) as value from full_text_place'), 0);
  assert.equal(await tablesNow(), tables);
});

describe('an index of FTS5', () => {
  let corpus: Corpus;
  beforeEach(async () => {
    corpus = createCorpus(database, await insertOldCollection());
  });
  testCommonWords(() => corpus);
});

test("a migration moves every word of a collection's own index to the shared index", async () => {
  const words = ['water', "don't", '数据库', 'x\u0080y', 'x\u0082y', 'v1.2', 'naïve'];
  const corpora: Array<{ id: string; corpus: ReturnType<typeof createCorpus> }> = [];
  for (let n = 0; n < 3; n++) {
    const id = await insertOldCollection();
    const corpus = createCorpus(database, id);
    await corpus.addTerms(Array.from({ length: 30 }, (_, m) => words.filter((_, w) => (m + n) % (w + 1) === 0)));
    corpora.push({ id, corpus });
  }
  const empty = await insertOldCollection();
  const searchAll = () => Promise.all(corpora.map(({ corpus }) => corpus.search(words, 100)));
  const expected = await searchAll();
  assert.ok(expected.every((found) => found.length === 30));

  await createOldSchema([...corpora.map(({ id }) => id), empty]);
  await database.write.transaction().execute((trx) => createSharedFullTextMigration('sqlite').up(trx));
  assert.deepEqual(await searchAll(), expected);
  const remainingRows = await readOne(
    String.raw`select count(*) as value from sqlite_schema where name like 'fts\_%' escape '\'`,
  );
  assert.equal(remainingRows, 0);
  for (const { id } of corpora) await remove(id);
  await remove(empty);
  assert.equal(await chunksIndexed(), 0);
});

/** Creates the schema from before the migration: an index and a list of terms for each collection, without tags. */
async function createOldSchema(collectionIds: readonly string[]): Promise<void> {
  const run = (statement: string) => sql.raw(statement).execute(database.write);
  const options = `content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'`;
  for (const id of collectionIds) {
    const number =
      (await readOne<number>(`select number as value from full_text_place where collection_id = '${id}'`)) ?? 0;
    const tag = `${number.toString(36)}\u0082`;
    await run(`create virtual table fts_${id} using fts5(words, ${options})`);
    await run(`create virtual table terms_${id} using fts5vocab(fts_${id}, 'row')`);
    await run(
      `create virtual table temp.tagged using fts5vocab('main', 'full_text_index_${number % shards}', 'instance')`,
    );
    await run(`insert into fts_${id} (rowid, words) select doc, group_concat(substr(term, ${tag.length + 1}), ' ')
      from temp.tagged where term >= '${tag}' and term < '${tag.slice(0, -1)}\u0083' group by doc`);
    await run('drop table temp.tagged');
  }
  for (let shard = 0; shard < shards; shard++) {
    await run(`drop table full_text_terms_${shard}`);
    await run(`drop table full_text_index_${shard}`);
  }
  await run('drop table full_text_place');
}
