import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';

/**
 * Sends a message to a thread that answers each message with one, and returns the answer.
 * @throws Error when the thread ends or throws, and when the signal aborts
 */
export async function askThread<Answer>(thread: Worker, request: unknown, signal?: AbortSignal): Promise<Answer> {
  const answered = new AbortController();
  const either = signal === undefined ? answered.signal : AbortSignal.any([signal, answered.signal]);
  const ended = once(thread, 'exit', { signal: either }).then(() => {
    throw new Error('its thread ended');
  });
  try {
    const answer = once(thread, 'message', { signal: either });
    thread.postMessage(request);
    const [message] = (await Promise.race([answer, ended])) as [Answer]; // the thread sends nothing else
    return message;
  } finally {
    answered.abort();
  }
}
