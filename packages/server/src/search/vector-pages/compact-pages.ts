import type { VectorSpace } from '../embedding/vector-index.ts';
import { encodePages } from './encode-rows.ts';
import type { Encode } from './encoder.ts';
import { readSeqs, vectorsPerPage } from './page-format.ts';
import type { VectorPageRepository, VectorRow } from './vector-page-repository.ts';

/** Pages are written again when less than this share of their vectors exists. */
const leastShare = 0.75;

/** Writes pages of which many vectors were deleted or replaced again, neighbours together. */
export async function compactPages(pages: VectorPageRepository, encode: Encode, space: VectorSpace): Promise<void> {
  const listed = await pages.list(space);
  const stored = listed.reduce((sum, { count }) => sum + count, 0);
  if (stored === 0 || (await pages.countPaged(space)) >= leastShare * stored) return;
  let removed: number[] = [];
  let rows: VectorRow[] = [];
  let { pageVersion } = space;
  /** @returns false when another process has changed the pages */
  const flush = async (): Promise<boolean> => {
    if (removed.length === 0) return true;
    const added = await encodePages(encode, { dimensions: space.dimensions, rows, earlier: null });
    const current = { ...space, pageVersion };
    const isStored = await pages.replace(current, { added, removed, pagedChange: space.pagedChange });
    [removed, rows] = [[], []];
    pageVersion += 1;
    return isStored;
  };
  for (const { id, count } of listed) {
    const scan = await pages.readScan(id);
    if (scan === undefined) return;
    const existing = await pages.pagedRows(space, readSeqs(scan));
    if (existing.length >= leastShare * count) continue;
    removed.push(id);
    rows.push(...existing);
    if (rows.length >= vectorsPerPage && !(await flush())) return;
  }
  await flush();
}
