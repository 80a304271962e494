import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { markTerm } from '../analysis/term-kinds.ts';
import { type BuiltSegment, buildRemovals, buildSegment, type ChunkTerms } from './build-segment.ts';
import { checkSegment } from './check-segment.ts';
import { mergeSegments } from './merge-segments.ts';
import { DamagedSegment } from './segment-format.ts';
import { decodeHeader, findTerm } from './segment-reader.ts';

function createRandom(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return Math.floor(((state >>> 0) / 2 ** 32) * most);
  };
}

/** Chunks with common and rare words, with filter terms, and a few with more repeats than are stored. */
function createChunks(count: number, from = 1): ChunkTerms[] {
  const random = createRandom(from);
  return Array.from({ length: count }, (_, at) => {
    const terms = new Map([['common', 1 + random(9)]]);
    terms.set(`word${random(1500)}`, 1 + random(3));
    terms.set(`😀${random(900)}`, 1);
    if (random(2) === 0) terms.set('half', 1 + random(200));
    const length = [...terms.values()].reduce((sum, times) => sum + times, 0);
    const isCut = at % 500 === 499;
    if (isCut) terms.set('common', 255);
    const filterTerms = [markTerm('filter', `r${Math.floor(at / 300)}`), markTerm('filter', `tkey\u0001${random(5)}`)];
    return { seq: from + 2 * at, terms, length: isCut ? 65_535 : length, filterTerms };
  });
}

function check({ header, pages }: BuiltSegment) {
  return checkSegment(header, (number) => {
    const page = pages[number];
    if (page === undefined) throw new DamagedSegment(`page ${number} is missing`);
    return page;
  });
}

const open = ({ header, pages }: BuiltSegment) => ({
  header: decodeHeader(header),
  readPage: (number: number) => pages[number] ?? assert.fail(`no page ${number}`),
});

function merge(parts: readonly BuiltSegment[], areFirst: boolean): BuiltSegment {
  const merging = mergeSegments(parts.map(open), { areFirst });
  const pages: Uint8Array[] = [];
  for (let step = merging.next(); ; step = merging.next()) {
    if (step.done === true) return { header: step.value.header, pages };
    pages.push(step.value);
  }
}

/** Returns a copy with other bytes in the header (-1) or in a page. */
function change(segment: BuiltSegment, page: number, at: number, byte: (before: number) => number): BuiltSegment {
  const bytes = (page < 0 ? segment.header : (segment.pages[page] as Uint8Array)).slice();
  bytes[at] = byte(bytes[at] as number);
  return page < 0 ? { ...segment, header: bytes } : { ...segment, pages: segment.pages.with(page, bytes) };
}

/** Returns the number of the first skip page of a common term. */
function findSkipPage(segment: BuiltSegment, term: string): number {
  const { header, readPage } = open(segment);
  const read: number[] = [];
  findTerm(header, (number) => readPage(read[read.push(number) - 1] as number), term);
  assert.equal(read.length, 2, 'the dictionary page and one skip page');
  return read[1] as number;
}

const isReported = (segment: BuiltSegment): boolean => {
  try {
    check(segment);
    return false;
  } catch (error) {
    if (error instanceof DamagedSegment) return true;
    throw error;
  }
};

describe('a check of a segment', () => {
  const chunks = createChunks(4500);
  const built = buildSegment(chunks);
  const removals = { header: buildRemovals([1, 3, 9001, 20_001]), pages: [] };
  const common = findSkipPage(built, 'common');

  test('it counts chunks and postings of built, merged and removing segments', () => {
    const postings = chunks.reduce((sum, { terms, filterTerms }) => sum + terms.size + (filterTerms?.length ?? 0), 0);
    assert.deepEqual([check(built).header.seqs.length, check(built).postings], [4500, postings]);
    assert.equal(check(removals).postings, 0);
    const later = buildSegment(createChunks(600, 10_001));
    for (const areFirst of [true, false]) {
      const merged = merge([built, removals, later], areFirst);
      assert.equal(check(merged).header.seqs.length, 5098);
    }
    const even = buildSegment(chunks.filter((_, at) => at % 2 === 0));
    const odd = buildSegment(chunks.filter((_, at) => at % 2 === 1));
    assert.deepEqual(merge([even, odd], true), built, 'a merge writes the same bytes');
  });

  test('it reports each of 3,000 flipped bits in headers and pages of all kinds', () => {
    const random = createRandom(5);
    const kinds = [built, merge([built, removals], false), removals];
    let [flips, unreported] = [0, 0];
    for (const segment of kinds) {
      for (let flip = 0; flip < 1000; flip++) {
        const page = random(4) === 0 ? -1 : random(segment.pages.length + 1) - 1;
        const bytes = page < 0 ? segment.header : (segment.pages[page] as Uint8Array);
        const [at, bit] = [random(bytes.length), random(8)];
        flips++;
        if (!isReported(change(segment, page, at, (before) => before ^ (1 << bit)))) unreported++;
      }
    }
    assert.deepEqual([flips, unreported], [3000, 0]);
  });

  test('it reports words that do not add up to the length of their chunk', () => {
    const [chunk] = createChunks(1) as [ChunkTerms];
    for (const [length, expected] of [
      [chunk.length - 1, /more words/],
      [chunk.length + 1, /fewer words/],
    ] as const) {
      assert.throws(() => check(buildSegment([{ ...chunk, length }])), expected);
    }
  });

  test('a merge refuses a page that does not agree with its checksum', () => {
    const damaged = change(built, common, 3, (before) => before ^ 1);
    assert.throws(() => merge([damaged, removals], true), /the checksum of page \d+ does not agree with its bytes/);
  });

  test('a header that is cut or has an unknown version is refused', () => {
    assert.throws(() => decodeHeader(built.header.subarray(0, -1)), DamagedSegment);
    assert.throws(() => decodeHeader(Uint8Array.of(6, ...built.header.subarray(1))), /the format 6 is unknown/);
  });
});
