import { checkSegment } from '../../search/segments/check-segment.ts';
import { createLiveChunks, isRemoved, type LiveChunks } from '../../search/segments/live-chunks.ts';
import { DamagedSegment } from '../../search/segments/segment-format.ts';
import { decodeHeader, type SegmentHeader } from '../../search/segments/segment-reader.ts';
import type { SegmentSource } from './segment-source.ts';

interface CheckedSegment {
  readonly header: SegmentHeader;
  readonly live: LiveChunks;
}

/**
 * Reads all segments of a collection and compares them with its chunks.
 * @returns one sentence for each error; the first damaged segment ends the check
 */
export function checkIndex(source: SegmentSource, collectionId: string): string[] {
  try {
    return compareChunks(source, collectionId, readSegments(source, collectionId));
  } catch (error) {
    if (error instanceof DamagedSegment)
      return [`The search index of collection ${collectionId} is damaged: ${error.message}.`];
    throw error;
  }
}

function readSegments(source: SegmentSource, collectionId: string): CheckedSegment[] {
  const checked: CheckedSegment[] = [];
  for (const { id, chunks, removals } of source.listSegments(collectionId)) {
    const header = decodeHeader(found(source.readHeader(id), `the header of segment ${id}`));
    checkSegment(header, (number) => found(source.readPage(id, number), `page ${number} of segment ${id}`));
    if (header.seqs.length !== chunks || header.removals.length > removals) {
      throw new DamagedSegment(`the numbers of segment ${id} do not agree with its header`);
    }
    for (const { live } of checked) live.remove(header.removals);
    checked.push({ header, live: createLiveChunks(header) });
  }
  return checked;
}

function found(bytes: Uint8Array | undefined, name: string): Uint8Array {
  if (bytes === undefined) throw new DamagedSegment(`${name} is missing`);
  return bytes;
}

/** Compares the live chunks of the index with the rows, both in the order of their seqs. */
function compareChunks(source: SegmentSource, collectionId: string, segments: readonly CheckedSegment[]): string[] {
  const indexed = listLive(segments);
  const stored = listStored(source, collectionId);
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
function listStored(source: SegmentSource, collectionId: string): Float64Array {
  const seqs: number[] = [];
  for (let last = ''; ; ) {
    const rows = source.listChunks(collectionId, last, rowsPerQuery);
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
