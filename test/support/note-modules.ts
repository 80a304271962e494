import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const file = process.env.NOTED_MODULES;

/** Preloaded into a service (`--import`), it appends the process id and the URL of each module that the main thread loads to a file. */
if (file !== undefined && isMainThread) {
  registerHooks({
    load(url, context, next) {
      appendFileSync(file, `${process.pid} ${url}\n`);
      return next(url, context);
    },
  });
}
