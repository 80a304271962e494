import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNewId } from '../../../platform/identifier.ts';
import type { CollectionRepositories } from '../../../storage/repositories/records/collection-repositories.ts';
import type { RecordClaim, RecordJob } from '../../ingestion/record-job-repository.ts';
import type { ChunkFilter } from '../../search/chunk-index.ts';
import type { NewChunk } from '../chunks/chunk-repository.ts';
import { maxCapacity, type StoredCollection } from '../collection-repository.ts';
import type { NewRecord, StoredRecord } from '../records/record-repository.ts';

export interface OpenedRepositories extends CollectionRepositories {
  /** Returns the id of an existing project. */
  newProject(): Promise<string>;
  /** Adds `chunks` to the chunk counts of the record and its collection, without writing chunks. */
  enlarge(record: NewRecord, chunks: number): Promise<void>;
  /** Counts the rows of the collection in all tables except the index. */
  countRows(collectionId: string): Promise<number>;
  close(): Promise<void>;
}

export const newId = createNewId();
/** The time in these suites. Nothing depends on the day. */
export const start = 1_800_000_000_000;
export const never = new AbortController().signal;

export function newCollection(more: Partial<StoredCollection> = {}): StoredCollection {
  return {
    id: newId('collection'),
    projectId: newId('project'),
    type: 'text',
    name: 'A name',
    description: '',
    capacity: maxCapacity,
    embeddingModelId: 'QmBm25v1',
    embeddingPaused: false,
    retrieval: {},
    chunking: {},
    metadata: {},
    createdAt: start,
    updatedAt: start,
    ...more,
  };
}

export function newRecord(of: StoredCollection, more: Partial<NewRecord> = {}): NewRecord {
  return {
    id: newId('record'),
    projectId: of.projectId,
    collectionId: of.id,
    type: 'text',
    title: '',
    content: 'some text',
    fileId: null,
    url: null,
    textSplitter: null,
    metadata: {},
    createdAt: start,
    deadlineAt: start + 1_000_000,
    ...more,
  };
}

/** Returns a chunk whose words are those of its content. */
export function newChunk(content: string, more: Partial<NewChunk> = {}): NewChunk {
  return {
    id: newId('chunk'),
    ordinal: 0,
    content,
    question: null,
    answer: null,
    numTokens: content.split(' ').length,
    metadata: {},
    locator: null,
    createdAt: start,
    words: content,
    ...more,
  };
}

export const keyOf = (record: NewRecord) => ({
  projectId: record.projectId,
  collectionId: record.collectionId,
  recordId: record.id,
});

/** Adds a collection to the database. */
export async function addCollection({ collections }: CollectionRepositories, more: Partial<StoredCollection> = {}) {
  const collection = newCollection(more);
  assert.equal(await collections.add(collection, 1_000), true);
  return collection;
}

export async function addRecord(
  { records }: CollectionRepositories,
  of: StoredCollection,
  more: Partial<NewRecord> = {},
) {
  const record = newRecord(of, more);
  assert.equal(await records.add(record), true);
  return record;
}

export const claimAt = (now: number, more: Partial<RecordClaim> = {}): RecordClaim => ({
  kind: 'ingest',
  token: newId('run'),
  now,
  leaseUntil: now + 30_000,
  ...more,
});

export async function claim(
  { jobs }: CollectionRepositories,
  now = start,
  more: Partial<RecordClaim> = {},
): Promise<RecordJob> {
  const job = await jobs.claim(claimAt(now, more));
  assert.ok(job, 'there is a record to claim');
  return job;
}

/** Adds a record with these chunks. */
export async function recordOf(
  repositories: CollectionRepositories,
  of: StoredCollection,
  contents: readonly string[],
) {
  const record = await addRecord(repositories, of);
  const job = await claim(repositories);
  assert.equal(job.id, record.id);
  await publish(repositories, job, contents);
  return record;
}

export async function publish({ jobs }: CollectionRepositories, job: RecordJob, contents: readonly string[]) {
  const chunks = contents.map((content, ordinal) => newChunk(content, { ordinal }));
  assert.equal(await jobs.addChunks(job, chunks), true);
  const published = {
    status: 'ready',
    numChunks: contents.length,
    report: { format: 'text' },
    now: start + 5,
  } as const;
  const publication = await jobs.publish(job, published);
  assert.equal(publication.kind, 'published');
}

export async function getRecord({ records }: CollectionRepositories, record: NewRecord): Promise<StoredRecord> {
  const found = await records.find(keyOf(record));
  assert.ok(found, 'the record is there');
  return found;
}

/** Returns the contents of the visible chunks in their order. */
export async function contentsOf({ chunks }: CollectionRepositories, of: StoredCollection, recordId?: string) {
  const key = { projectId: of.projectId, collectionId: of.id, ...(recordId === undefined ? {} : { recordId }) };
  const page = await chunks.list(key, { order: 'asc', limit: 100 });
  return page?.items.map((chunk) => chunk.content);
}

/** Returns the contents of the chunks that a search finds. */
export async function foundBy(
  { chunks }: CollectionRepositories,
  of: StoredCollection,
  words: readonly string[],
  filter?: ChunkFilter,
) {
  const ranked = await chunks.rank({ collectionId: of.id, words, limit: 100, filter });
  const seqs = ranked.map(({ seq }) => seq);
  const found = await chunks.fetch([of.id], seqs);
  return seqs.flatMap((seq) => found.get(seq)?.content ?? []);
}

/** Removes the collection and its contents. */
export async function sweepAway({ collections }: CollectionRepositories, of: StoredCollection): Promise<void> {
  await collections.markDeleting(of.projectId, of.id);
  await collections.sweep(of.id, 2, never);
}

/** Returns a function that defines a test, which gets the repositories with a new collection and removes it afterwards. */
export function collectionTests(open: () => OpenedRepositories) {
  return (
    title: string,
    run: (repositories: OpenedRepositories & { readonly collection: StoredCollection }) => Promise<void>,
  ) =>
    test(title, async () => {
      const repositories = open();
      const collection = await addCollection(repositories);
      await run({ ...repositories, collection });
      await sweepAway(repositories, collection);
    });
}
