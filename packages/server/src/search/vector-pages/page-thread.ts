import { workerData } from 'node:worker_threads';
import { encodePage } from './encode-page.ts';
import { readCentre } from './page-format.ts';
import type { EncodeRequest, Numbered, PageAnswer, PageRequest, PageThreadStart } from './page-protocol.ts';
import { createPageSpaces, type PageQuestion } from './page-spaces.ts';
import { createRotation } from './rotation.ts';

/* This thread stores, scans and encodes pages, so that the event loop does not. */

const { port, memory } = workerData as PageThreadStart; // as `open-page-thread.ts` starts it
const spaces = createPageSpaces(memory);
const questions = new Map<number, { readonly question: PageQuestion; readonly count: number }>();
let lastQuestion = 0;

const done: PageAnswer = { kind: 'done' };

function begin({ space, query, count }: Extract<PageRequest, { kind: 'begin' }>): PageAnswer {
  const question = spaces.begin(space, query);
  if (question === undefined) return { kind: 'not_open' };
  if (question.missing.length === 0) {
    using _ = question;
    return { kind: 'near', near: question.finish(count) };
  }
  lastQuestion += 1;
  questions.set(lastQuestion, { question, count });
  return { kind: 'missing', question: lastQuestion, pages: question.missing };
}

function finish({ kind, question: number }: Extract<PageRequest, { kind: 'finish' | 'cancel' }>): PageAnswer {
  const found = questions.get(number);
  questions.delete(number);
  using question = found?.question;
  if (kind === 'cancel' || question === undefined) return done;
  return { kind: 'near', near: question.finish((found as { count: number }).count) };
}

function encode({ seqs, vectors, dimensions, earlier }: EncodeRequest): PageAnswer {
  const rotate = createRotation(dimensions);
  const earlierCentre = earlier === null ? undefined : readCentre(earlier);
  return { kind: 'encoded', page: encodePage({ seqs, vectors, dimensions, rotate, earlierCentre }) };
}

function answer(request: PageRequest): PageAnswer {
  switch (request.kind) {
    case 'open':
      spaces.open(request.space, request.dimensions, request.pages);
      return done;
    case 'extend':
      return spaces.extend(request.space, request) ? done : { kind: 'not_open' };
    case 'begin':
      return begin(request);
    case 'scan':
      questions.get(request.question)?.question.scan(request.page, request);
      return done;
    case 'finish':
    case 'cancel':
      return finish(request);
    case 'encode':
      return encode(request);
    case 'forget':
      spaces.forget(request.space);
      return done;
    case 'close':
      return done;
  }
}

port.on('message', ({ id, message }: Numbered<PageRequest>) => {
  let reply: PageAnswer;
  try {
    reply = answer(message);
  } catch (error) {
    reply = { kind: 'failed', error };
  }
  port.postMessage({ id, message: reply } satisfies Numbered<PageAnswer>);
  if (message.kind === 'close') port.close();
});
