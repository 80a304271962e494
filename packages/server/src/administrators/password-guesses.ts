import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** What the thread gets. */
export interface GuessesQuestion {
  readonly passwords: readonly string[];
  /** Words that an attacker tries first here. */
  readonly words: readonly string[];
}

/** The time for an estimate grows with the square of the length; a password that is good so far is good. */
const longest = 64;
const memoryMb = 256;

/**
 * How many guesses zxcvbn expects that a password takes. It runs in a thread that ends afterwards: the lists take 80 MB
 * and a second to load, and passwords are chosen rarely.
 */
export async function guessesOf(password: string, name: string): Promise<number> {
  const start = [...password.normalize('NFKC')].slice(0, longest).join('');
  const question: GuessesQuestion = {
    passwords: [start, start.replace(/[ ._-]/g, '')],
    words: [name, 'quartermaster', 'console', 'administrator'],
  };
  const worker = new Worker(new URL('./password-guesses-thread.ts', import.meta.url), {
    workerData: question,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  });
  const ended = once(worker, 'exit').then(() => {
    throw new Error('The thread that estimates guesses ended without an answer.');
  });
  const [guesses] = (await Promise.race([once(worker, 'message'), ended])) as [number]; // as the thread posts it
  await worker.terminate();
  return guesses;
}
