import { Counter, type Registry } from '../../platform/metrics.ts';

const events = [
  ...(['linked', 'connected', 'refused', 'revoked'] as const),
  ...(['refreshed', 'refresh_refused', 'misconfigured', 'provider_unavailable'] as const),
] as const;
export type ConnectionEvent = (typeof events)[number];

export function createConnectionMetrics(registry: Registry): (event: ConnectionEvent) => void {
  const counter = new Counter({
    name: 'quartermaster_connections_total',
    help: `Events of the connections of end users, by event: ${events.join(', ')}.`,
    labelNames: ['event'],
    registers: [registry],
  });
  return (event) => counter.inc({ event });
}
