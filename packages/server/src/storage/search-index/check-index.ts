import { checkSegment } from '../../stores/search/segments/check-segment.ts';
import { createLiveChunks, findPlace, isRemoved, type LiveChunks } from '../../stores/search/segments/live-chunks.ts';
import { DamagedSegment } from '../../stores/search/segments/segment-format.ts';
import type { SegmentHeader } from '../../stores/search/segments/segment-reader.ts';
import type { SegmentSource } from './segment-source.ts';

interface CheckedSegment {
  readonly seqs: SegmentHeader['seqs'];
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
  for (const row of source.listSegments(collectionId)) {
    const { id } = row;
    const bytes = found(source.readHeader(id), `the header of segment ${id}`);
    const { header, pages } = checkSegment(bytes, (number) =>
      found(source.readPage(id, number), `page ${number} of segment ${id}`),
    );
    const isEqual = header.seqs.length === row.chunks && header.removals.length === row.removals && pages === row.pages;
    if (!isEqual) throw new DamagedSegment(`the numbers of segment ${id} do not agree with its header and pages`);
    for (const { live } of checked) live.remove(header.removals);
    checked.push({ seqs: header.seqs, live: createLiveChunks(header) });
  }
  return checked;
}

function found(bytes: Uint8Array | undefined, name: string): Uint8Array {
  if (bytes === undefined) throw new DamagedSegment(`${name} is missing`);
  return bytes;
}

/** Compares the rows with the live chunks of the segments. Holds one batch of rows at a time. */
function compareChunks(source: SegmentSource, collectionId: string, segments: readonly CheckedSegment[]): string[] {
  const indexed = segments.reduce((sum, { live }) => sum + live.chunks, 0);
  let [found, missing, last] = [0, 0, ''];
  for (let isComplete = false; !isComplete; ) {
    const rows = source.listChunks(collectionId, last, rowsPerQuery);
    for (const { seq } of rows) {
      if (segments.some((segment) => hasLive(segment, seq))) found++;
      else missing++;
    }
    last = rows.at(-1)?.id ?? last;
    isComplete = rows.length < rowsPerQuery;
  }
  const unknown = indexed - found;
  return [
    ...(missing === 0 ? [] : [`The search index of collection ${collectionId} lacks ${missing} chunks.`]),
    ...(unknown === 0
      ? []
      : [`The search index of collection ${collectionId} has ${unknown} chunks that do not exist.`]),
  ];
}

/** The query reads an index of the table, which has no texts. */
const rowsPerQuery = 10_000;

function hasLive({ seqs, live }: CheckedSegment, seq: number): boolean {
  const place = findPlace(seqs, seq, 0);
  return seqs[place] === seq && (live.removed === null || !isRemoved(live.removed, place));
}
