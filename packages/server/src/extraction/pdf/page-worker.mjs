import { parentPort } from 'node:worker_threads';

// JavaScript: to take the types out of one file costs a thread 55 ms and 20 MiB, and most processes never need this one.
// Its right to start further threads is its own; see confine.ts.
process.permission?.drop?.('worker');

parentPort?.on('message', async (job) => {
  const { readShare } = await import('./read-share.ts');
  parentPort?.postMessage(await readShare(job));
});
