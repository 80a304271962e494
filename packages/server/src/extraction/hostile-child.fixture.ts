import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { tryAll } from './hostile-attempts.fixture.ts';

/** The reader as it is when its first document comes, and a thread like its own, both taken over. */
const thread = once(new Worker(new URL('./hostile-thread.fixture.ts', import.meta.url)), 'message');
await import('./child.ts');
const child = await tryAll();
const [inThread] = await thread;
// The standard output is for frames.
writeSync(2, JSON.stringify({ child, thread: inThread }));
process.exit();
