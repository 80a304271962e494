import { type RunningTask, startPeriodicTask } from '../../kernel/concurrency/periodic-task.ts';
import type { Logger } from '../../kernel/log/logger.ts';
import type { VectorSpace } from '../embedding/vector-index.ts';
import { compactPages } from './compact-pages.ts';
import { encodePages } from './encode-rows.ts';
import { type Encode, openEncoder } from './encoder.ts';
import { vectorsPerPage } from './page-format.ts';
import type { VectorPageRepository, VectorRow } from './vector-page-repository.ts';

export interface PageBuilderDeps {
  readonly pages: VectorPageRepository;
  /** Whether the disk has enough free space for background work to write. */
  readonly hasFreeSpace: () => Promise<boolean>;
  readonly logger: Logger;
  /** Milliseconds between two searches for vectors that are not in pages. */
  readonly pauseMs?: number;
  /** Milliseconds between two searches for pages with deleted vectors. */
  readonly compactMs?: number;
}

const defaults = { pauseMs: 2000, compactMs: 10 * 60_000 };
/** The pages of earlier models that one transaction deletes. */
const removedAtOnce = 8;

const nameOf = ({ collectionId, slot }: VectorSpace) => `${collectionId} ${slot}`;

/**
 * Writes vectors into pages in the background, as soon as they fill one. A process that ends leaves no half of a page,
 * because a page and the change up to which vectors are in pages are written by one transaction. Of two processes that
 * build the same page, only the first one stores it.
 */
export function startPageBuilder(deps: PageBuilderDeps): RunningTask {
  const { pages, hasFreeSpace, logger, pauseMs, compactMs } = { ...defaults, ...deps };
  /** The last change of each set at which its vectors did not fill a page. */
  const tooFew = new Map<string, number>();
  let compactAt = 0;

  async function buildAll(encode: Encode, signal: AbortSignal): Promise<void> {
    const spaces = await pages.listSpaces();
    for (const space of spaces) {
      if (tooFew.get(nameOf(space)) === space.lastChange) continue;
      for (let current = space; await buildPages(pages, encode, current); ) {
        signal.throwIfAborted();
        if (!(await hasFreeSpace())) return;
        const next = (await pages.listSpaces()).find((each) => nameOf(each) === nameOf(space));
        if (next === undefined) break;
        current = next;
      }
      tooFew.set(nameOf(space), space.lastChange);
    }
    const known = new Set(spaces.map(nameOf));
    for (const id of tooFew.keys()) if (!known.has(id)) tooFew.delete(id);
  }

  async function run(signal: AbortSignal): Promise<void> {
    if (!(await hasFreeSpace())) return;
    await using encoder = openEncoder();
    await buildAll(encoder.encode, signal);
    while ((await pages.removeOutdated(removedAtOnce)) === removedAtOnce) signal.throwIfAborted();
    if (performance.now() < compactAt) return;
    for (const space of await pages.listSpaces()) {
      signal.throwIfAborted();
      if (await hasFreeSpace()) await compactPages(pages, encoder.encode, space);
    }
    compactAt = performance.now() + compactMs;
  }

  return startPeriodicTask({ name: 'vector pages', pause: pauseMs, run }, (error) =>
    logger.error({ err: error }, 'vector page build failed'),
  );
}

/**
 * Writes the next vectors that fill a page.
 * @returns whether there may be more
 */
async function buildPages(pages: VectorPageRepository, encode: Encode, space: VectorSpace): Promise<boolean> {
  if (!(await pages.hasUnpaged(space, vectorsPerPage))) return false;
  const rows = await readWholeChanges(pages, space);
  const pagedChange = rows.at(-1)?.change;
  if (pagedChange === undefined) return false;
  const added = await encodePages(encode, {
    dimensions: space.dimensions,
    rows,
    earlier: await readLast(pages, space),
  });
  await pages.replace(space, { added, removed: [], pagedChange });
  return true;
}

/** Reads the rows of as many changes as one page holds, or of one change that is larger. */
async function readWholeChanges(pages: VectorPageRepository, space: VectorSpace): Promise<VectorRow[]> {
  const after = { change: space.pagedChange, seq: Number.MAX_SAFE_INTEGER };
  const rows = await pages.rowsAfter(space, after, vectorsPerPage);
  const last = rows.at(-1);
  if (last === undefined || rows.length < vectorsPerPage) return rows;
  const whole = rows.filter(({ change }) => change < last.change);
  if (whole.length > 0) return whole;
  const one = { ...space, lastChange: last.change };
  for (let end: VectorRow | undefined = last; end !== undefined; end = rows.at(-1)) {
    const more = await pages.rowsAfter(one, end, vectorsPerPage);
    if (more.length === 0) break;
    rows.push(...more);
  }
  return rows;
}

/** Returns the part `scan` of the last page, whose centre may suit the next one, too. */
async function readLast(pages: VectorPageRepository, space: VectorSpace): Promise<Uint8Array | null> {
  const last = (await pages.list(space)).at(-1);
  return last === undefined ? null : ((await pages.readScan(last.id)) ?? null);
}
