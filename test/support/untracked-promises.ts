// Loaded before each test file (`--import`). `node:test` watches every promise of the process to find the test of an
// unhandled error, which takes up to a fifth of the processor time of a test. With this, it watches timers, streams and the
// like only. An unhandled error after an `await` is printed, and fails the file instead of the test.
import asyncHooks, { createHook } from 'node:async_hooks';
import { isMainThread } from 'node:worker_threads';

if (isMainThread && process.env.NODE_TEST_CONTEXT !== undefined) {
  // The first caller is `node:test`.
  const createForTests: typeof createHook = (callbacks) => {
    Object.assign(asyncHooks, { createHook });
    // The report of the file has no stack.
    process.on('uncaughtExceptionMonitor', console.error).on('unhandledRejection', console.error);
    return createHook({ ...callbacks, trackPromises: false });
  };
  Object.assign(asyncHooks, { createHook: createForTests });
}
