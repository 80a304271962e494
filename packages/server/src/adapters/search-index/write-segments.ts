import type { IndexedChunk } from '../../search/search-index.ts';
import { buildRemovals } from '../../search/segments/build-segment.ts';
import { createSegmentBuilder } from '../../search/segments/segment-builder.ts';
import { readWords } from '../full-text/bm25.ts';
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

/** Writes a segment of the chunks, in the transaction that inserts them. */
export function addSegment(statements: ThreadStatements, { collectionId, chunks }: AddedChunks): void {
  const builder = createSegmentBuilder();
  for (const { seq, words } of [...chunks].sort((a, b) => a.seq - b.seq)) {
    if (builder.addWords(seq, words)) continue;
    const { counts, length } = readWords(words);
    builder.add({ seq, terms: counts, length });
  }
  const { header, pages } = builder.build();
  const sizes = { chunks: chunks.length, removals: 0, pages: pages.length };
  const id = insertSegment(statements, collectionId, { ...sizes, header });
  for (const [number, page] of pages.entries()) {
    statements.run('insert into index_page (id, data) values (?, ?)', id * pagesPerSegment + number, page);
  }
}

/** Writes a segment that removes the chunks from the segments before it. */
export function removeChunks(statements: ThreadStatements, { collectionId, seqs }: RemovedChunks): void {
  const header = buildRemovals(seqs);
  insertSegment(statements, collectionId, { chunks: 0, removals: seqs.length, pages: 0, header });
}

interface NewSegment {
  readonly chunks: number;
  readonly removals: number;
  readonly pages: number;
  readonly header: Uint8Array;
}

function insertSegment(statements: ThreadStatements, collectionId: string, segment: NewSegment): number {
  const { chunks, removals, pages, header } = segment;
  const id = statements.run(
    `insert into index_segment (collection_id, state, position, chunks, removals, pages, header)
      values (?, 'live', 0, ?, ?, ?, ?)`,
    collectionId,
    ...[chunks, removals, pages, header],
  );
  statements.run('update index_segment set position = id where id = ?', id);
  return id;
}
