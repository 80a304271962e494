import { checkSegment } from '../../search/segments/check-segment.ts';
import { createLiveChunks, isRemoved, type LiveChunks } from '../../search/segments/live-chunks.ts';
import { DamagedSegment } from '../../search/segments/segment-format.ts';
import { decodeHeader, type SegmentHeader } from '../../search/segments/segment-reader.ts';
import { readIndexState } from './index-state.ts';
import { pagesPerSegment } from './segment-pages.ts';
import type { ThreadStatements } from './thread-statements.ts';

interface SegmentRow {
  readonly id: number;
  readonly chunks: number;
  readonly removals: number;
  readonly header: Uint8Array;
}
interface CheckedSegment {
  readonly header: SegmentHeader;
  readonly live: LiveChunks;
}

/**
 * Reads all segments of a collection and compares them with its chunks. An index of FTS5 is not checked.
 * @returns one sentence for each error; the first damaged segment ends the check
 */
export function checkIndex(statements: ThreadStatements, collectionId: string): string[] {
  if (readIndexState(statements, collectionId).hasOldIndex) return [];
  try {
    return compareChunks(statements, collectionId, readSegments(statements, collectionId));
  } catch (error) {
    if (error instanceof DamagedSegment)
      return [`The search index of collection ${collectionId} is damaged: ${error.message}.`];
    throw error;
  }
}

function readSegments(statements: ThreadStatements, collectionId: string): CheckedSegment[] {
  const checked: CheckedSegment[] = [];
  const rows = statements.all<SegmentRow>(
    "select id, chunks, removals, header from index_segment where collection_id = ? and state = 'live' order by position",
    collectionId,
  );
  for (const row of rows) {
    const header = decodeHeader(row.header);
    checkSegment(header, (number) => readPage(statements, row.id, number));
    if (header.seqs.length !== row.chunks || header.removals.length > row.removals) {
      throw new DamagedSegment(`the numbers of segment ${row.id} do not agree with its header`);
    }
    for (const { live } of checked) live.remove(header.removals);
    checked.push({ header, live: createLiveChunks(header) });
  }
  return checked;
}

function readPage(statements: ThreadStatements, segment: number, number: number): Uint8Array {
  const [row] = statements.all<{ data: Uint8Array }>(
    'select data from index_page where id = ?',
    segment * pagesPerSegment + number,
  );
  if (row === undefined) throw new DamagedSegment(`page ${number} of segment ${segment} is missing`);
  return row.data;
}

/** Compares the live chunks of the index with the rows, both in the order of their seqs. */
function compareChunks(
  statements: ThreadStatements,
  collectionId: string,
  segments: readonly CheckedSegment[],
): string[] {
  const indexed = listLive(segments);
  const stored = listStored(statements, collectionId);
  let at = 0;
  let missing = 0;
  let unknown = 0;
  for (const seq of stored) {
    for (; at < indexed.length && (indexed[at] as number) < seq; at++) unknown++;
    if (indexed[at] === seq) at++;
    else missing++;
  }
  unknown += indexed.length - at;
  return [
    ...(missing === 0 ? [] : [`The search index of collection ${collectionId} lacks ${missing} chunks.`]),
    ...(unknown === 0
      ? []
      : [`The search index of collection ${collectionId} has ${unknown} chunks that do not exist.`]),
  ];
}

const rowsPerQuery = 10_000;

/** Returns the seqs of the stored chunks in ascending order. Reads an index of the table, which has no texts. */
function listStored(statements: ThreadStatements, collectionId: string): Float64Array {
  const seqs: number[] = [];
  for (let last = ''; ; ) {
    const rows = statements.all<{ seq: number; id: string }>(
      'select seq, id from chunk where collection_id = ? and id > ? order by id limit ?',
      ...[collectionId, last, rowsPerQuery],
    );
    for (const { seq, id } of rows) {
      seqs.push(seq);
      last = id;
    }
    if (rows.length < rowsPerQuery) return Float64Array.from(seqs).sort();
  }
}

function listLive(segments: readonly CheckedSegment[]): Float64Array {
  const seqs: number[] = [];
  for (const { header, live } of segments) {
    for (const [chunk, seq] of header.seqs.entries()) {
      if (live.removed === null || !isRemoved(live.removed, chunk)) seqs.push(seq);
    }
  }
  return Float64Array.from(seqs).sort();
}
