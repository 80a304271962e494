import { type Registry, registerGauge } from '../metrics.ts';
import type { Watchdog } from '../server-process/watchdog.ts';
import type { App } from './app.ts';

declare module 'fastify' {
  interface FastifyRequest {
    watchNumber: number;
  }
}

/** Reports the requests in progress to the watchdog: method, pattern of the path and id, never a query or a body. */
export function watchRequests(app: App, watchdog: Watchdog): void {
  app.decorateRequest('watchNumber', 0);
  app.addHook('onRequest', (request, _reply, done) => {
    request.watchNumber = watchdog.begin(`${request.method} ${request.routeOptions.url ?? '(none)'} ${request.id}`);
    done();
  });
  app.addHook('onResponse', (request, _reply, done) => {
    watchdog.end(request.watchNumber);
    done();
  });
}

export function registerWatchdogMetrics(registry: Registry, watchdog: Watchdog): void {
  registerGauge(
    registry,
    'quartermaster_event_loop_longest_silence_seconds',
    'Longest time since the start that the event loop was blocked, in whole seconds.',
    () => watchdog.longestSilence(),
  );
}
