import { Histogram, type Registry } from '../../platform/metrics.ts';
import type { SqliteThread } from './sqlite-thread.ts';

/** Seconds up to which transactions are counted together. */
const bounds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/**
 * Measures how long each transaction of the writing connection takes, from its first statement to its commit or rollback.
 * All other writers wait for that long. The connection runs one transaction at a time.
 */
export function measureWrites(thread: SqliteThread, registry: Registry | undefined): SqliteThread {
  if (registry === undefined) return thread;
  const seconds = new Histogram({
    name: 'quartermaster_database_write_seconds',
    help: 'Seconds from the first statement of a write transaction to its end. Other writers wait for that long. SQLite only.',
    buckets: bounds,
    registers: [registry],
  });
  let began = 0;
  return {
    ...thread,
    async send(request) {
      const place = typeof request === 'string' ? request : request.place;
      if (place === 'first' || place === 'alone') began = performance.now();
      try {
        return await thread.send(request);
      } finally {
        if (place === 'alone' || place === 'commit' || place === 'rollback') {
          seconds.observe((performance.now() - began) / 1000);
        }
      }
    },
  };
}
