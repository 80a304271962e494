import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Chunk, ListQuery, RecordItem } from '@quartermaster/contract';
import { settledRecord } from './client.ts';
import type { StartedService } from './service.ts';
import type { KnownCollection, KnownRecord, KnownStores } from './store-caller.ts';

/**
 * Asserts everything that callers know of the stores. Acknowledged objects are complete and can be found, deleted
 * objects are gone, and uncertain objects are either complete or gone. Nothing else exists.
 */
export async function checkStores(service: StartedService, known: readonly KnownStores[]): Promise<void> {
  await checkFiles(service, known);
  for (const { collections } of known) for (const each of collections) await checkCollection(service, each);
}

async function checkFiles({ client }: StartedService, callers: readonly KnownStores[]): Promise<void> {
  const listed = new Set((await every((query) => client.files.list(query), 'file_id')).map(({ file_id }) => file_id));
  for (const { id, sha256, fate } of callers.flatMap(({ files }) => files)) {
    if (fate !== 'unknown') assert.equal(listed.has(id), fate === 'there', `${id} is ${fate}`);
    if (!listed.delete(id)) continue;
    const bytes = Buffer.from(await (await client.files.content(id)).arrayBuffer());
    assert.equal(createHash('sha256').update(bytes).digest('hex'), sha256, `${id} is whole`);
  }
  const unanswered = callers.reduce((sum, { unansweredUploads }) => sum + unansweredUploads, 0);
  assert.ok(listed.size <= unanswered, `${listed.size} files nobody was told of, ${unanswered} uploads without answer`);
}

async function checkCollection({ client }: StartedService, known: KnownCollection): Promise<void> {
  const found = await client.collections.get(known.id).catch(() => undefined);
  if (known.fate !== 'unknown')
    assert.equal(found !== undefined, known.fate === 'there', `${known.id} is ${known.fate}`);
  if (found === undefined) return;
  for (const record of known.records) {
    if (record.fate === 'gone') await checkGone({ client }, known, record);
    else await checkRecord({ client }, known, record);
  }
  const records = await every((query) => client.records.list(known.id, query), 'record_id');
  const strangers = records.filter(({ record_id }) => !known.records.some(({ id }) => id === record_id));
  assert.ok(strangers.length <= known.unanswered, `${strangers.length} records nobody was told of`);
  for (const { record_id } of strangers) await settledRecord(client, known.id, record_id);
  await checkCounts({ client }, known.id);
}

/** Asserts that the record has ended and contains its whole source. */
async function checkRecord(
  { client }: Pick<StartedService, 'client'>,
  { id: collectionId, kind }: KnownCollection,
  { id, sources, fate }: KnownRecord,
): Promise<void> {
  if (fate === 'unknown' && (await client.records.get(collectionId, id).catch(() => undefined)) === undefined) return;
  const record = await settledRecord(client, collectionId, id);
  assert.equal(record.status, 'ready', `${id}: ${JSON.stringify(record)}`);
  const chunks = await chunksOf({ client }, record);
  if (sources.length === 0) return;
  const text = chunks.map(({ content }) => content).join('\n');
  const words = sources.find((source) => source.every((word) => text.includes(word)));
  assert.ok(words, `${id} is whole`);
  if (kind === 'qa') assert.equal(chunks.length, words.length, `${id} has each pair once`);
  const [word = ''] = words;
  const answers = await client.search(collectionId, { query_text: word, top_k: 20 });
  assert.ok(JSON.stringify(answers).includes(word), `${word} of ${id} is found`);
}

async function checkGone(
  { client }: Pick<StartedService, 'client'>,
  { id: collectionId, records }: KnownCollection,
  { id, sources }: KnownRecord,
): Promise<void> {
  await assert.rejects(client.records.get(collectionId, id), { status: 404 });
  const word = sources[0]?.[0] ?? '';
  // Several records may come from one file.
  if (records.some((other) => other.id !== id && other.sources.flat().includes(word))) return;
  const answers = await client.search(collectionId, { query_text: word, top_k: 20 });
  assert.ok(!JSON.stringify(answers).includes(word), `${word} of ${id}, which is deleted, is not found`);
}

/** Asserts that the counts equal the lists. */
async function checkCounts({ client }: Pick<StartedService, 'client'>, collectionId: string): Promise<void> {
  const { num_records, num_chunks } = await client.collections.get(collectionId);
  const records = await every((query) => client.records.list(collectionId, query), 'record_id');
  const chunks = await Promise.all(records.map((record) => chunksOf({ client }, record)));
  assert.deepEqual([num_records, num_chunks], [records.length, chunks.flat().length], collectionId);
}

async function chunksOf(
  { client }: Pick<StartedService, 'client'>,
  { collection_id, record_id, num_chunks }: RecordItem,
): Promise<Chunk[]> {
  const chunks = await every((query) => client.records.chunks(collection_id, record_id, query), 'chunk_id');
  assert.equal(chunks.length, num_chunks, `${record_id} has as many chunks as it says`);
  return chunks;
}

const pageSize = 100;

/** Returns all pages of a list. */
async function every<T extends { readonly [key in K]: string }, K extends string>(
  list: (query: ListQuery) => Promise<{ readonly data: readonly T[]; readonly has_more: boolean }>,
  id: K,
): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    const after = all.at(-1)?.[id];
    const page = await list({ limit: pageSize, ...(after === undefined ? {} : { after }) });
    all.push(...page.data);
    if (!page.has_more || page.data.length === 0) return all;
  }
}
