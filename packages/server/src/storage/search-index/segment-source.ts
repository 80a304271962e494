import { pagesPerSegment } from './segment-pages.ts';
import type { ThreadStatements } from './thread-statements.ts';

/** The numbers of a live segment, as its row has them. */
export interface ListedSegment {
  readonly id: number;
  readonly position: number;
  readonly chunks: number;
  readonly removals: number;
  readonly pages: number;
}

export interface ListedChunk {
  readonly seq: number;
  readonly id: string;
}

/** Reads segments and chunks of one snapshot, one after another. The methods return undefined for what is missing. */
export interface SegmentSource {
  readHeader(segment: number): Uint8Array | undefined;
  /** Reads the headers and the first pages of several segments together, which takes less time than one by one. */
  readAhead?(segments: readonly number[]): void;
  readPage(segment: number, page: number): Uint8Array | undefined;
  /** Returns the live segments of a collection in their order. */
  listSegments(collectionId: string): readonly ListedSegment[];
  /** Returns the next chunks of a collection, in the order of their ids. */
  listChunks(collectionId: string, after: string, limit: number): readonly ListedChunk[];
}

interface StoredBytes {
  readonly bytes: Uint8Array;
}

/** Reads in the thread of a SQLite connection. */
export function createSqliteSource(statements: ThreadStatements): SegmentSource {
  const readBytes = (sql: string, id: number) => statements.all<StoredBytes>(sql, id)[0]?.bytes;
  return {
    readHeader: (segment) => readBytes('select header as bytes from index_segment where id = ?', segment),
    readPage: (segment, page) =>
      readBytes('select data as bytes from index_page where id = ?', segment * pagesPerSegment + page),
    listSegments: (collectionId) =>
      statements.all<ListedSegment>(
        `select id, position, chunks, removals, pages from index_segment
          where collection_id = ? and state = 'live' order by position`,
        collectionId,
      ),
    listChunks: (collectionId, after, limit) =>
      statements.all<ListedChunk>(
        'select seq, id from chunk where collection_id = ? and id > ? order by id limit ?',
        ...[collectionId, after, limit],
      ),
  };
}
