import { parentPort } from 'node:worker_threads';
import type { AnswerRequest } from './answer-reader.ts';
import { type CallOutcome, compileAnswerRules, interpretAnswer } from './interpret-answer.ts';

const port = parentPort;
port?.on('message', ({ response, answer, context }: AnswerRequest) => {
  // Structured cloning turns a Buffer into a Uint8Array.
  const { buffer, byteOffset, byteLength } = answer.body;
  const body = Buffer.from(buffer, byteOffset, byteLength);
  const outcome: CallOutcome = interpretAnswer(compileAnswerRules(response), { ...answer, body }, context);
  port.postMessage(outcome);
});
