import { analysisVersion } from '../../stores/search/analysis/analysis-version.ts';
import type { IndexedChunk } from '../../stores/search/search-index.ts';
import { type BuiltSegment, buildRemovals, buildSegment } from '../../stores/search/segments/build-segment.ts';
import { readWords } from '../../stores/search/segments/index-words.ts';
import { pagesPerSegment } from './segment-pages.ts';
import type { ThreadStatements } from './thread-statements.ts';

export interface AddedChunks {
  readonly collectionId: string;
  readonly chunks: readonly IndexedChunk[];
}
export interface RemovedChunks {
  readonly collectionId: string;
  readonly seqs: readonly number[];
}

/**
 * Writes a segment of the chunks, in the transaction that inserts them. A rebuild in progress reads them later, except
 * those that it has passed.
 */
export function addChunks(statements: ThreadStatements, { collectionId, chunks }: AddedChunks): void {
  insertChunks(statements, { collectionId, chunks, state: 'live' });
  const reached = findReached(statements, collectionId);
  if (reached === undefined) return;
  const passed = findPassed(statements, chunks, reached);
  if (passed.length > 0) insertChunks(statements, { collectionId, chunks: passed, state: 'rebuilt' });
}

/**
 * Writes a segment that removes the chunks from the segments before it. For a rebuild in progress it writes another one,
 * because a chunk that has been read may have changed.
 */
export function removeChunks(statements: ThreadStatements, { collectionId, seqs }: RemovedChunks): void {
  const removed = { removals: new Set(seqs).size, header: buildRemovals(seqs) };
  const segment = { collectionId, chunks: 0, pages: 0, ...removed };
  insertSegment(statements, { ...segment, state: 'live' });
  if (findReached(statements, collectionId) !== undefined) insertSegment(statements, { ...segment, state: 'rebuilt' });
}

/** Returns the id up to which a rebuild has read the chunks; undefined when none is in progress. */
function findReached(statements: ThreadStatements, collectionId: string): string | undefined {
  const sql = 'select reached from index_rebuild where collection_id = ?';
  return statements.all<{ reached: string }>(sql, collectionId)[0]?.reached;
}

/** Returns the chunks that a rebuild does not read any more. It reads chunks in the order of their ids. */
function findPassed(
  statements: ThreadStatements,
  chunks: readonly IndexedChunk[],
  reached: string,
): readonly IndexedChunk[] {
  const rows = statements.all<{ seq: number }>(
    `select chunk.seq from json_each(?) as wanted cross join chunk on chunk.seq = wanted.value where chunk.id <= ?`,
    JSON.stringify(chunks.map(({ seq }) => seq)),
    reached,
  );
  const passed = new Set(rows.map(({ seq }) => seq));
  return chunks.filter(({ seq }) => passed.has(seq));
}

interface SegmentPlace {
  readonly collectionId: string;
  readonly state: 'live' | 'rebuilt';
}

export function buildChunks(chunks: readonly IndexedChunk[]): BuiltSegment {
  return buildSegment(chunks.map(({ seq, words, filterTerms }) => ({ seq, filterTerms, ...readWords(words) })));
}

/** Writes a segment of the chunks. */
export function insertChunks(statements: ThreadStatements, { chunks, ...place }: AddedChunks & SegmentPlace): void {
  const { header, pages } = buildChunks(chunks);
  const sizes = { chunks: chunks.length, removals: 0, pages: pages.length };
  const id = insertSegment(statements, { ...place, ...sizes, header });
  for (const [number, page] of pages.entries()) {
    statements.run('insert into index_page (id, data) values (?, ?)', id * pagesPerSegment + number, page);
  }
}

interface NewSegment extends SegmentPlace {
  readonly chunks: number;
  readonly removals: number;
  readonly pages: number;
  readonly header: Uint8Array;
}

function insertSegment(statements: ThreadStatements, segment: NewSegment): number {
  const { collectionId, state, chunks, removals, pages, header } = segment;
  const id = statements.run(
    `insert into index_segment (collection_id, state, position, chunks, removals, pages, header, analysis)
      values (?, ?, 0, ?, ?, ?, ?, ?)`,
    ...[collectionId, state, chunks, removals, pages, header, analysisVersion],
  );
  statements.run('update index_segment set position = id where id = ?', id);
  return id;
}
