import type { Kysely } from 'kysely';
import type { Statistics } from '../../stores/search/search-index.ts';
import { askThread } from '../database/sqlite-insert-many.ts';
import type { Tables } from '../database/tables.ts';
import type { ThreadCompared, ThreadComparison } from './compare-vectors.ts';
import type { MergeParts, MergeStep } from './merge-steps.ts';
import type { SegmentAnswer, SegmentQuestion } from './questions.ts';
import type { RebuiltChunks } from './thread-procedures.ts';
import type { AddedChunks, RemovedChunks } from './write-segments.ts';

/** Runs a procedure of `thread-procedures.ts` in the thread of a SQLite connection. */
function call<Result>(db: Kysely<Tables>, procedure: string, argument: unknown): Promise<Result> {
  return askThread<Result>(db, { procedure, argument });
}

export async function addChunks(db: Kysely<Tables>, added: AddedChunks): Promise<void> {
  await call(db, 'addChunks', added);
}
export async function removeChunks(db: Kysely<Tables>, removed: RemovedChunks): Promise<void> {
  await call(db, 'removeChunks', removed);
}
/** Analyses chunks that a rebuild has read, and inserts their segment. */
export async function insertRebuilt(db: Kysely<Tables>, rebuilt: RebuiltChunks): Promise<void> {
  await call(db, 'insertRebuilt', rebuilt);
}
/** Analyses chunks again, and replaces them in the index. */
export async function reindexChunks(db: Kysely<Tables>, reread: RebuiltChunks): Promise<void> {
  await call(db, 'reindexChunks', reread);
}
export async function ask(db: Kysely<Tables>, question: SegmentQuestion): Promise<SegmentAnswer> {
  return (await call<{ answer: SegmentAnswer }>(db, 'ask', question)).answer;
}
export function compareInThread(db: Kysely<Tables>, comparison: ThreadComparison): Promise<ThreadCompared> {
  return call(db, 'compareVectors', comparison);
}
export function countIndexed(db: Kysely<Tables>, collectionId: string): Promise<Statistics> {
  return call(db, 'countIndexed', collectionId);
}
/** Returns one sentence for each error in the segments of a collection. */
export async function findIndexErrors(db: Kysely<Tables>, collectionId: string): Promise<readonly string[]> {
  return (await call<{ findings: readonly string[] }>(db, 'checkIndex', collectionId)).findings;
}
export async function startMerge(db: Kysely<Tables>, parts: MergeParts): Promise<void> {
  await call(db, 'startMerge', parts);
}
export function continueMerge(db: Kysely<Tables>, pages: number): Promise<MergeStep> {
  return call(db, 'continueMerge', pages);
}
