import { DatabaseSync } from 'node:sqlite';
import { buildChunks } from '../../packages/server/src/storage/search-index/write-segments.ts';
import { chooseMerge, type SegmentSize } from '../../packages/server/src/stores/search/segments/choose-merge.ts';
import { mergeSegments } from '../../packages/server/src/stores/search/segments/merge-segments.ts';
import { decodeHeader } from '../../packages/server/src/stores/search/segments/segment-reader.ts';
import type { Row } from '../table.ts';
import { searchTexts } from './search-texts.ts';

const chunks = 100_000;
/** Chunks of one transaction of an import of these pairs. Its batches are bounded in characters. */
const batch = 910;
/** The largest cost of segments with merging, as a multiple of the cost of FTS5. */
const most = 1.5;

interface Segment extends SegmentSize {
  readonly header: Uint8Array;
  readonly pages: readonly Uint8Array[];
}

/** Compares the processor time of indexing the same words in segments, merges included, and in FTS5. */
export function addingCostRow(): Row {
  const batches = createBatches();
  const building = measure(() => addToSegments(batches, { merges: false }));
  const merging = measure(() => addToSegments(batches, { merges: true }));
  const fts5 = measure(() => addToFts5(batches));
  const ratio = merging / fts5;
  return {
    bench: `search, indexing ${chunks} chunks in process`,
    ours: `${merging.toFixed(1)} µs of processor a chunk, without merges ${building.toFixed(1)}`,
    floor: `FTS5 ${fts5.toFixed(1)} µs`,
    bar: `${ratio.toFixed(2)} (≤ ${most})`,
    met: ratio <= most,
  };
}

/** Returns the words of the chunks. */
function createBatches(): string[][] {
  const batches: string[][] = [];
  for (const text of searchTexts(chunks)) {
    const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    const last = batches.at(-1);
    if (last === undefined || last.length === batch) batches.push([words.join(' ')]);
    else last.push(words.join(' '));
  }
  return batches;
}

/** Returns the microseconds of processor time for one chunk. */
function measure(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / chunks;
}

function addToSegments(batches: readonly string[][], { merges }: { merges: boolean }): void {
  using database = new DatabaseSync(':memory:');
  database.exec('create table page (data blob not null)');
  const insert = database.prepare('insert into page (data) values (?)');
  const store = (segment: Segment) => {
    database.exec('begin');
    for (const page of [segment.header, ...segment.pages]) insert.run(page);
    database.exec('commit');
    return segment;
  };
  let seq = 0;
  let segments: Segment[] = [];
  for (const texts of batches) {
    const built = buildChunks(texts.map((words) => ({ seq: ++seq, words })));
    segments.push(store({ ...built, chunks: texts.length, removals: 0 }));
    for (let range = chooseMerge(segments); merges && range !== undefined; range = chooseMerge(segments)) {
      const { from, to } = range;
      segments = [...segments.slice(0, from), store(merge(segments.slice(from, to))), ...segments.slice(to)];
    }
  }
}

function merge(parts: readonly Segment[]): Segment {
  const open = parts.map(({ header, pages }) => ({
    header: decodeHeader(header),
    readPage: (number: number) => pages[number] as Uint8Array, // the header counts the pages
  }));
  const pages: Uint8Array[] = [];
  const merging = mergeSegments(open, { areFirst: false });
  for (let step = merging.next(); ; step = merging.next()) {
    if (step.done === true) return { ...step.value, pages };
    pages.push(step.value);
  }
}

function addToFts5(batches: readonly string[][]): void {
  using database = new DatabaseSync(':memory:');
  // The smallest index of FTS5 that knows which chunk has a word.
  database.exec(
    "create virtual table indexed using fts5(words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii')",
  );
  const insert = database.prepare('insert into indexed (rowid, words) values (?, ?)');
  let seq = 0;
  for (const texts of batches) {
    database.exec('begin');
    for (const words of texts) insert.run(++seq, words);
    database.exec('commit');
  }
}
