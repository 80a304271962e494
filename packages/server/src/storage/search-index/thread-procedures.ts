import { parseJson } from '../../platform/json/parse-json.ts';
import { readFileName } from '../../stores/collections/records/record-file-name.ts';
import { countFieldTerms } from '../../stores/search/analysis/field-terms.ts';
import { type FilteredChunk, listFilterTerms } from '../../stores/search/filter-terms.ts';
import type { IndexedChunk } from '../../stores/search/search-index.ts';
import { contentOf, headingOf } from '../database/chunk-content.ts';
import type { ChunkTexts } from '../database/chunk-texts.ts';
import { checkIndex } from './check-index.ts';
import { compareVectors, type ThreadComparison } from './compare-vectors.ts';
import { createMergeSteps, type MergeParts } from './merge-steps.ts';
import { createQuestions, type SegmentQuestion } from './questions.ts';
import { createSqliteSource } from './segment-source.ts';
import type { ThreadStatements } from './thread-statements.ts';
import { type AddedChunks, addChunks, insertChunks, type RemovedChunks, removeChunks } from './write-segments.ts';

/** Chunks that a step of a rebuild has read. */
export interface RebuiltChunks {
  readonly collectionId: string;
  readonly chunks: readonly ChunkTexts[];
}

/** The procedures of the search index that run in the thread of a SQLite connection. A call is one message. */
export interface ThreadProcedures {
  call(procedure: string, argument: unknown): unknown;
}

export type Procedures = ReturnType<typeof createProcedures>;

function createProcedures(statements: ThreadStatements, cacheBytes: number | undefined) {
  const questions = createQuestions(statements, cacheBytes);
  const source = createSqliteSource(statements);
  const merge = createMergeSteps(source);
  return {
    addChunks: (added: AddedChunks) => addChunks(statements, added),
    removeChunks: (removed: RemovedChunks) => removeChunks(statements, removed),
    ask: (question: SegmentQuestion) => ({ answer: questions.ask(question) }),
    compareVectors: (comparison: ThreadComparison) => compareVectors(statements, comparison),
    countIndexed: (collectionId: string) => questions.count(collectionId),
    insertRebuilt: ({ collectionId, chunks }: RebuiltChunks) =>
      insertChunks(statements, { collectionId, chunks: chunks.map(analyseChunk), state: 'rebuilt' }),
    reindexChunks({ collectionId, chunks }: RebuiltChunks) {
      removeChunks(statements, { collectionId, seqs: chunks.map(({ seq }) => seq) });
      addChunks(statements, { collectionId, chunks: chunks.map(analyseChunk) });
    },
    checkIndex: (collectionId: string) => ({ findings: checkIndex(source, collectionId) }),
    startMerge: (parts: MergeParts) => merge.start(parts),
    continueMerge: (pages: number) => merge.next(pages),
  };
}

/** Callers of other threads pass the arguments through `search-thread.ts`, which types them. */
export function createThreadProcedures(statements: ThreadStatements, cacheBytes?: number): ThreadProcedures {
  const procedures: Readonly<Record<string, (argument: never) => unknown>> = createProcedures(statements, cacheBytes);
  return {
    call(procedure, argument) {
      const named = procedures[procedure];
      if (named === undefined) throw new Error(`the thread has no procedure ${procedure}`);
      return named(argument as never);
    },
  };
}

/** Returns what the index needs of a chunk. It takes long, so that it runs in a thread. */
export function analyseChunk({ seq, question, record_id: recordId, ...row }: ChunkTexts): IndexedChunk {
  const metadata = parseJson(row.metadata) as FilteredChunk['metadata']; // an object, as is that of the record
  const recordMetadata = parseJson(row.record_metadata ?? '{}') as FilteredChunk['recordMetadata'];
  return {
    seq,
    words: countFieldTerms({
      title: row.record_title,
      fileName: row.record_file && readFileName(row.record_file),
      heading: headingOf(row.locator),
      question,
      content: contentOf({ ...row, question }),
    }),
    filterTerms: listFilterTerms({ recordId, question, metadata, recordMetadata }),
  };
}
