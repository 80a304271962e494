import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Quartermaster } from '@quartermaster/client';
import { settledRecord } from '../../test/support/client.ts';
import { corpusFolder } from '../../test/support/corpus.ts';

/** The sets of `corpus/ir`: real questions, each with the passage that answers it. */
export const retrievalSets = ['xquad-ar', 'xquad-en', 'xquad-es', 'xquad-zh'] as const;
export type RetrievalSet = (typeof retrievalSets)[number];

interface Line {
  readonly _id: string;
  readonly text: string;
}

/** Passages, and questions each of which one passage answers. */
export interface PassageSet {
  readonly name: string;
  readonly documents: readonly Line[];
  readonly questions: readonly Line[];
  /** The document that answers a question, by their ids. */
  readonly right: ReadonlyMap<string, string>;
}

const linesOf = (set: RetrievalSet, file: string) =>
  readFileSync(join(corpusFolder, 'ir', set, file), 'utf8')
    .trim()
    .split('\n');

/** Returns the bars: nDCG@10 of BM25 from the manifest of the corpus. */
export function readBars(): Map<string, number> {
  const bars = new Map<string, number>();
  for (const line of readFileSync(join(corpusFolder, 'manifest.jsonl'), 'utf8').trim().split('\n')) {
    // The README of the corpus describes the format.
    const { path, stats } = JSON.parse(line) as { path: string; stats?: { bm25?: { ndcg10: number } } };
    const bar = stats?.bm25?.ndcg10;
    if (bar !== undefined) bars.set(path.split('/')[1] ?? '', bar);
  }
  return bars;
}

/** Number of concurrent records or questions. */
const lanes = 4;

async function each<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const queue = items.values();
  const worker = async () => {
    for (const item of queue) await act(item);
  };
  await Promise.all(Array.from({ length: lanes }, worker));
}

/** Reads a set of the corpus. */
export function readSet(name: RetrievalSet): PassageSet {
  const rows = linesOf(name, 'qrels.tsv').slice(1);
  return {
    name,
    documents: linesOf(name, 'docs.jsonl').map((line) => JSON.parse(line) as Line),
    questions: linesOf(name, 'queries.jsonl').map((line) => JSON.parse(line) as Line),
    right: new Map(rows.map((line) => line.split('\t')).map(([question = '', document = '']) => [question, document])),
  };
}

/** Loads a set through the API, one record per document. Returns the collection. */
export async function loadSet(client: Quartermaster, set: RetrievalSet | PassageSet): Promise<string> {
  const { name, documents } = typeof set === 'string' ? readSet(set) : set;
  const { collection_id: collection } = await client.collections.create({ name });
  await each(documents, async ({ _id, text }) => {
    // Creates one chunk for each document.
    const text_splitter = { type: 'token', chunk_size: 1000, chunk_overlap: 0 } as const;
    const created = await client.records.create(collection, {
      type: 'text',
      content: text,
      metadata: { document: _id },
      text_splitter,
    });
    const record = await settledRecord(client, collection, created.record_id);
    if (record.status !== 'ready')
      throw new Error(`${name}/${_id} ended as ${record.status}: ${record.error?.message}`);
  });
  return collection;
}

/**
 * Returns nDCG@10 over all questions of the set. A question has one right passage, so it is the mean of 1 / log2(place
 * + 1).
 */
export async function measureSet(
  client: Quartermaster,
  set: RetrievalSet | PassageSet,
  collection: string,
): Promise<number> {
  const { questions, right } = typeof set === 'string' ? readSet(set) : set;
  const documents = await documentsOf(client, collection);
  let gain = 0;
  await each(questions, async ({ _id, text }) => {
    const found = await client.search(collection, { query_text: text, top_k: 20 });
    const ranked = [...new Set(found.map((chunk) => documents.get(chunk.record_id ?? '')))].slice(0, 10);
    const place = ranked.indexOf(right.get(_id));
    if (place !== -1) gain += 1 / Math.log2(place + 2);
  });
  return gain / questions.length;
}

/** Returns the document of each record. */
async function documentsOf(client: Quartermaster, collection: string): Promise<Map<string, string>> {
  const documents = new Map<string, string>();
  for (let after: string | undefined; ; ) {
    const page = await client.records.list(collection, { limit: 100, order: 'asc', ...(after && { after }) });
    for (const { record_id, metadata } of page.data) documents.set(record_id, metadata.document ?? '');
    after = page.data.at(-1)?.record_id;
    if (!page.has_more) return documents;
  }
}
