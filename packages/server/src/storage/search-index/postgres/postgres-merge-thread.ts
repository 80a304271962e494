import type { Kysely } from 'kysely';
import type { Tables } from '../../database/tables.ts';
import type { MergeThread } from '../index-merger.ts';
import { createIndexThread } from './postgres-index-thread.ts';
import { readForThread } from './postgres-segment-rows.ts';

/** Merges in a thread of its own, whose reads go through the pool. */
export function createPostgresMergeThread(db: Kysely<Tables>): MergeThread {
  const thread = createIndexThread('index-merger');
  const read = (request: Parameters<typeof readForThread>[1]) => readForThread(db, request);
  return {
    async start(parts) {
      await thread.call('startMerge', parts, read);
    },
    next: (pages) => thread.call('continueMerge', pages, read),
    close: () => thread.close(),
  };
}
