import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { buildRemovals } from '../../../stores/search/segments/build-segment.ts';
import { checkIndex } from '../check-index.ts';
import { createMergeSteps } from '../merge-steps.ts';
import { analyseChunk } from '../thread-procedures.ts';
import { buildChunks } from '../write-segments.ts';
import { createBlockingSource } from './blocking-source.ts';
import { createListedQuestions } from './listed-questions.ts';
import type {
  IndexMessage,
  IndexProcedure,
  IndexProcedures,
  IndexRequest,
  IndexStart,
  PackedSegment,
  ReadAnswer,
  ReadRequest,
} from './postgres-index-protocol.ts';

/* This thread builds, merges, ranks and checks segments of PostgreSQL, so that the event loop does not. */

const { answers, answerCount, cacheBytes } = workerData as IndexStart; // as openIndexThread starts it
const port = parentPort as MessagePort; // a worker has one
let currentId = 0;

function send(message: IndexMessage): void {
  port.postMessage(message);
}

/** Waits for the answer. Its caller holds no lock and no connection that the answer could wait for. */
function read(request: ReadRequest): unknown {
  const known = Atomics.load(answerCount, 0);
  send({ id: currentId, read: request });
  Atomics.wait(answerCount, 0, known);
  const answer = receiveMessageOnPort(answers)?.message as ReadAnswer;
  if (answer === null) throw new Error('a read for the search index has failed');
  return answer.result;
}

type Run<Name extends IndexProcedure> = (
  argument: IndexProcedures[Name]['argument'],
) => IndexProcedures[Name]['result'];

function createProcedures(): { readonly [Name in IndexProcedure]: Run<Name> } {
  const questions = createListedQuestions(cacheBytes);
  let merge = createMergeSteps(createBlockingSource(read));
  return {
    ...questions,
    build: (chunks) => pack(buildChunks(chunks)),
    buildRebuilt: (chunks) => pack(buildChunks(chunks.map(analyseChunk))),
    buildRemovals,
    startMerge(parts) {
      // A new source, so that the pages of the last merge are not kept.
      merge = createMergeSteps(createBlockingSource(read));
      merge.start(parts);
      return null;
    },
    continueMerge: (pages) => merge.next(pages),
    check: (collectionId) => checkIndex(createBlockingSource(read), collectionId),
  };
}

function pack({ header, pages }: ReturnType<typeof buildChunks>): PackedSegment {
  const sizes = pages.map(({ length }) => length);
  const all = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0));
  let at = 0;
  for (const page of pages) {
    all.set(page, at);
    at += page.length;
  }
  return { header, pages: all, sizes };
}

const procedures = createProcedures();
port.on('message', ({ id, procedure, argument }: IndexRequest) => {
  currentId = id;
  try {
    const run = procedures[procedure] as (argument: unknown) => unknown;
    send({ id, result: run(argument) });
  } catch (error) {
    send({ id, failure: error instanceof Error ? error.message : String(error) });
  }
});
