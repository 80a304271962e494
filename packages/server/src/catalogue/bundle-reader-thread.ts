import { parentPort } from 'node:worker_threads';
import { filesAtStart } from './bundle-files.ts';
import { type ReadRequest, readPackedBundle } from './read-packed-bundle.ts';

const port = parentPort;
port?.on('message', async (request: ReadRequest) => {
  const answer = await readPackedBundle(request, filesAtStart);
  port.postMessage(answer, answer.packed === undefined ? [] : [answer.packed.buffer]);
});
