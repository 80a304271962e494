import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { moduleUrl } from '../../platform/server-process/module-path.ts';
import { passwordNotChecked } from './problems.ts';

/** The input of the thread. */
export interface GuessesQuestion {
  readonly passwords: readonly string[];
  /** Words that an attacker tries first in this installation. */
  readonly words: readonly string[];
}

/**
 * The time for an estimate grows with the square of the length. A password whose first characters are strong is strong.
 */
const longest = 64;
const memoryMb = 256;
/** A password of 64 characters takes 1 to 2.5 s, and up to 10 s on a busy machine. */
const timeLimitMs = 60_000;

/**
 * Returns the number of guesses that zxcvbn expects for a password. It runs in a thread that ends afterwards: the lists
 * take 80 MB and a second to load, and passwords are chosen rarely.
 * @param limitMs milliseconds after which the thread ends
 * @throws Problem SERVICE_UNAVAILABLE when it takes longer
 */
export async function guessesOf(password: string, name: string, limitMs = timeLimitMs): Promise<number> {
  const start = [...password.normalize('NFKC')].slice(0, longest).join('');
  const question: GuessesQuestion = {
    passwords: [start, start.replace(/[ ._-]/g, '')],
    words: [name, 'quartermaster', 'console', 'administrator'],
  };
  const worker = new Worker(moduleUrl(import.meta, './password-guesses-thread'), {
    workerData: question,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  });
  const ended = once(worker, 'exit').then(() => {
    throw new Error('The thread that estimates guesses ended without an answer.');
  });
  const limit = AbortSignal.timeout(limitMs);
  try {
    const message = once(worker, 'message', { signal: limit });
    const [guesses] = (await Promise.race([message, ended])) as [number]; // as the thread posts it
    return guesses;
  } catch (error) {
    throw limit.aborted ? passwordNotChecked(limitMs / 1000) : error;
  } finally {
    await worker.terminate();
  }
}
