import { parentPort } from 'node:worker_threads';
import { tryAll } from './hostile-attempts.fixture.ts';
import './pdf/page-worker.mjs';
import './pdf/read-share.ts';

/** The thread that reads pages as it is when its first document comes, taken over. */
parentPort?.postMessage(await tryAll());
