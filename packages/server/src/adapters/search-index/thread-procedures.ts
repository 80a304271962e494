import { checkIndex } from './check-index.ts';
import { createMergeSteps, type MergeParts } from './merge-steps.ts';
import { createQuestions, type SegmentQuestion } from './questions.ts';
import { rebuildSome } from './rebuild-index.ts';
import type { ThreadStatements } from './thread-statements.ts';
import { type AddedChunks, addChunks, type RemovedChunks, removeChunks } from './write-segments.ts';

/** The procedures of the search index that run in the thread of a SQLite connection. A call is one message. */
export interface ThreadProcedures {
  call(procedure: string, argument: unknown): unknown;
}

/** Callers of other threads pass the arguments through `search-thread.ts`, which types them. */
export function createThreadProcedures(statements: ThreadStatements): ThreadProcedures {
  const questions = createQuestions(statements);
  const merge = createMergeSteps(statements);
  const procedures: Record<string, (argument: never) => unknown> = {
    addChunks: (added: AddedChunks) => addChunks(statements, added),
    removeChunks: (removed: RemovedChunks) => removeChunks(statements, removed),
    ask: (question: SegmentQuestion) => ({ answer: questions.ask(question) }),
    countIndexed: (collectionId: string) => ({ statistics: questions.count(collectionId) }),
    checkIndex: (collectionId: string) => ({ findings: checkIndex(statements, collectionId) }),
    rebuildSome: (collectionId: string) => ({ isFinished: rebuildSome(statements, collectionId) }),
    startMerge: (parts: MergeParts) => merge.start(parts),
    continueMerge: (pages: number) => merge.next(pages),
  };
  return {
    call(procedure, argument) {
      const named = procedures[procedure];
      if (named === undefined) throw new Error(`the thread has no procedure ${procedure}`);
      return named(argument as never);
    },
  };
}
