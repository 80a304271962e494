import { registerHooks } from 'node:module';
import { isMainThread } from 'node:worker_threads';

/** Preloaded into a service (`--import`), it sends the process SIGUSR1 while modules are being loaded. */
let isSent = !isMainThread;

registerHooks({
  load(url, context, next) {
    if (!isSent && url.endsWith('/server/src/app/service/compose.ts')) {
      isSent = true;
      process.kill(process.pid, 'SIGUSR1');
      process.stderr.write('signal sent while loading\n');
    }
    return next(url, context);
  },
});
