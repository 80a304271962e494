import type { HandlerContext } from '@quartermaster/plugin-kit';

/** The error that `context.reject` throws. */
export class Rejected extends Error {}

/** A context for handlers that only compute. They use only `reject` and the signal. */
export const context: HandlerContext = {
  plugin: 'computing',
  fetch: () => Promise.reject(new Error('a computing handler makes no call')),
  log: () => {},
  progress: () => {},
  reject: (message) => {
    throw new Rejected(message);
  },
  signal: new AbortController().signal,
};
