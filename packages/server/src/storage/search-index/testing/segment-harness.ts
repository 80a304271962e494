import { createMetrics } from '../../../platform/metrics.ts';
import type { Database } from '../../database/database.ts';
import { insertCollection } from '../../database/testing/insert-rows.ts';
import type { TemporaryDatabase } from '../../database/testing/open-temporary-database.ts';
import { type IndexMergerDeps, mergeSegmentsOf } from '../index-merger.ts';
import { createMergeMetrics } from '../merge-metrics.ts';
import { assertSameRanking, createCorpus, createRandom, rankByHand } from './full-text-corpus.suite.ts';

/** What the merges of a database need. */
export type MergeParts = Pick<IndexMergerDeps, 'openThread' | 'insertPages' | 'times' | 'holdOffRebuild'>;

export interface MergeHooks {
  /** Called after each step of a merge with its number, from 0. */
  readonly onStep?: (step: number) => unknown;
  readonly signal?: AbortSignal;
  readonly hasFreeSpace?: () => Promise<boolean>;
}

export const vocabulary = ['red', 'green', 'blue', 'مرحبا', '世界', 'น้ำ', 'snake_case', 'c++', 'x', 'y', 'z'];
/** The columns of a segment without content. */
export const emptySegment = { position: 0, chunks: 0, removals: 0, pages: 0, header: new Uint8Array(0), analysis: 1 };

/** Fills collections of a database with random chunks, and merges their segments as the service does. */
export type SegmentHarness = ReturnType<typeof createSegmentHarness>;

export function createSegmentHarness({ database }: TemporaryDatabase, parts: MergeParts) {
  const registry = createMetrics();
  const metrics = createMergeMetrics(registry);
  const deps = { write: database.write, metrics, ...parts };

  async function merge(collectionId: string, hooks: MergeHooks = {}) {
    const { onStep, signal = new AbortController().signal, hasFreeSpace = async () => true } = hooks;
    let step = 0;
    const thread = await parts.openThread();
    const openThread = async () => ({
      ...thread,
      async next(pages: number) {
        const found = await thread.next(pages);
        step++;
        await onStep?.(step - 1);
        return found;
      },
    });
    try {
      await mergeSegmentsOf(collectionId, { ...deps, openThread, hasFreeSpace, signal });
    } finally {
      await thread.close();
    }
    return step;
  }

  async function countRows(collectionId: string) {
    const { write } = database;
    const segments = await write
      .selectFrom('index_segment')
      .select(['id', 'state', 'pages', 'removals'])
      .where('collection_id', '=', collectionId)
      .orderBy('id')
      .execute();
    const pages = await write.selectFrom('index_page').select('id').execute();
    const own = pages.filter(({ id }) => segments.some((segment) => Math.floor(id / 2 ** 22) === segment.id));
    return {
      states: segments.map(({ state }) => state),
      removals: segments.reduce((sum, segment) => sum + segment.removals, 0),
      pages: own.length,
      expectedPages: segments.reduce((sum, segment) => sum + segment.pages, 0),
    };
  }

  return {
    database,
    deps,
    registry,
    merge,
    countRows,
    createFilledCollection: (seed: number) => createFilledCollection(database, seed),
  };
}

async function createFilledCollection(database: Database, seed: number) {
  const id = await insertCollection(database);
  const corpus = createCorpus(database, id);
  const random = createRandom(seed);
  const live = new Map<number, readonly string[]>();
  const word = () => vocabulary[Math.floor(random() ** 2 * vocabulary.length)] ?? 'red';
  return {
    id,
    corpus,
    live,
    random,
    async add(count: number) {
      const texts = Array.from({ length: count }, () => Array.from({ length: 1 + Math.floor(random() * 9) }, word));
      const seqs = await corpus.addTerms(texts);
      for (const [place, seq] of seqs.entries()) live.set(seq, texts[place] ?? []);
    },
    async remove(count: number) {
      const all = [...live.keys()];
      const seqs = Array.from({ length: count }, () => all[Math.floor(random() * all.length)] ?? -1);
      await corpus.remove(seqs);
      for (const seq of seqs) live.delete(seq);
    },
    async compare() {
      for (const query of [['red'], ['c++', '世界', 'missing'], vocabulary]) {
        assertSameRanking(await corpus.search(query, 10_000), rankByHand(live, query));
      }
    },
  };
}
