import type { HandlerContext } from '@quartermaster/plugin-kit';

/** What a handler says with `context.reject`. */
export class Rejected extends Error {}

/** For handlers that compute: everything but `reject` and the signal is of no use to them. */
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
