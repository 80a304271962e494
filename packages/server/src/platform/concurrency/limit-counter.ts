import { Counter, type Registry } from '../metrics.ts';

/** Counts a request that exceeded the limit of this name. */
export type CountExceeded = (limit: string) => void;

export function createLimitCounter(metrics: Registry): CountExceeded {
  const counter = new Counter({
    name: 'quartermaster_limit_exceeded_total',
    help: 'Requests above a limit on stored objects, sessions, event streams or idempotency keys, by name of the limit.',
    labelNames: ['limit'],
    registers: [metrics],
  });
  return (limit) => counter.inc({ limit });
}
