import { parentPort } from 'node:worker_threads';
import { type ReadRequest, readPackedBundle } from './read-packed-bundle.ts';

const port = parentPort;
port?.on('message', async (request: ReadRequest) => {
  const answer = await readPackedBundle(request);
  port.postMessage(answer, answer.packed === undefined ? [] : [answer.packed.buffer]);
});
