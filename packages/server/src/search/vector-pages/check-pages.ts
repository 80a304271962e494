import type { VectorSpace } from '../embedding/vector-index.ts';
import { encodePage } from './encode-page.ts';
import { DamagedVectorPage, type PageBytes, readCentre, readLayout, readSeqs, vectorsPerPage } from './page-format.ts';
import { createRotation, type Rotate } from './rotation.ts';
import type { VectorPageRepository, VectorRow } from './vector-page-repository.ts';

type Pages = Pick<VectorPageRepository, 'list' | 'read' | 'rowsAfter'>;

/** Where the code of a vector is. */
interface Place {
  readonly page: number;
  readonly place: number;
}

/**
 * Reads all pages of a space, encodes its vectors again and compares the codes.
 * @returns one sentence for each error; a damaged page ends the check
 */
export async function checkPages(pages: Pages, space: VectorSpace): Promise<string[]> {
  const name = `The vector index of collection ${space.collectionId}`;
  try {
    const places = await findPlaces(pages, space);
    const { missing, different } = await compareRows(pages, space, places);
    return [
      ...(missing === 0 ? [] : [`${name} lacks ${missing} vectors.`]),
      ...(different === 0 ? [] : [`${name} has ${different} codes that do not agree with their vectors.`]),
    ];
  } catch (error) {
    if (error instanceof DamagedVectorPage) return [`${name} is damaged: ${error.message}.`];
    throw error;
  }
}

/** Finds the last code of each vector. Earlier ones are of vectors that were replaced. */
async function findPlaces(pages: Pages, space: VectorSpace): Promise<Map<number, Place>> {
  const places = new Map<number, Place>();
  for (const { id, count } of await pages.list(space)) {
    const bytes = await readPage(pages, id);
    if (readLayout(bytes).count !== count) throw new DamagedVectorPage(`page ${id} has another number of vectors`);
    for (const [place, seq] of readSeqs(bytes.scan).entries()) places.set(seq, { page: id, place });
  }
  return places;
}

async function readPage(pages: Pages, id: number): Promise<PageBytes> {
  const bytes = await pages.read(id);
  if (bytes === undefined) throw new DamagedVectorPage(`page ${id} was replaced during the check; check again`);
  return bytes;
}

async function compareRows(pages: Pages, space: VectorSpace, places: ReadonlyMap<number, Place>) {
  const paged = { ...space, lastChange: space.pagedChange };
  const rotate = createRotation(space.dimensions);
  let [missing, different] = [0, 0];
  for (let last = { change: space.firstChange, seq: Number.MAX_SAFE_INTEGER }; ; ) {
    const rows = await pages.rowsAfter(paged, last, vectorsPerPage);
    const end = rows.at(-1);
    if (end === undefined) return { missing, different };
    last = end;
    const ofPages = new Map<number, VectorRow[]>();
    for (const row of rows) {
      if (row.vector === null) continue;
      const found = places.get(row.seq);
      if (found === undefined) missing++;
      else ofPages.set(found.page, [...(ofPages.get(found.page) ?? []), row]);
    }
    for (const [id, ofPage] of ofPages) {
      different += countDifferent({ ...(await readPage(pages, id)), space, rotate }, ofPage, places);
    }
  }
}

function countDifferent(
  { space, rotate, ...page }: PageBytes & { space: VectorSpace; rotate: Rotate },
  rows: readonly VectorRow[],
  places: ReadonlyMap<number, Place>,
): number {
  const layout = readLayout(page);
  const { dimensions } = space;
  if (layout.dimensions !== dimensions) return rows.length;
  const centre = readCentre(page.scan);
  const vectors = new Float32Array(rows.length * dimensions);
  for (const [place, { vector }] of rows.entries()) vectors.set(vector ?? [], place * dimensions);
  const seqs = Float64Array.from(rows, ({ seq }) => seq);
  const expected = encodePage({ seqs, vectors, dimensions, rotate, centre });
  return rows.filter(({ seq }, n) => {
    const { place } = places.get(seq) as Place; // as the caller has found it
    return !Buffer.from(codeOf(page, place)).equals(codeOf(expected, n));
  }).length;
}

/** Returns the numbers and bits that a page holds of one vector. */
function codeOf({ scan, refine }: PageBytes, place: number): Uint8Array {
  const layout = readLayout({ scan, refine });
  const { width, bases, scales, spreads, refinedScales, refinedSpreads, nibbles } = layout;
  const inBlock = place % 32;
  const signs = layout.signs + ((place - inBlock) * width) / 8 + (inBlock % 16);
  const shift = inBlock < 16 ? 0 : 4;
  const bits = Array.from({ length: width / 4 }, (_, group) => ((scan[signs + group * 16] as number) >> shift) & 15);
  const number = (part: Uint8Array, at: number) => part.subarray(at + place * 4, at + place * 4 + 4);
  return Buffer.concat([
    ...[bases, scales, spreads].map((at) => number(scan, at)),
    ...[refinedScales, refinedSpreads].map((at) => number(refine, at)),
    Uint8Array.from(bits),
    refine.subarray(nibbles + (place * width) / 2, nibbles + ((place + 1) * width) / 2),
  ]);
}
