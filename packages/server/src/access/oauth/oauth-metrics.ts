import { Counter, type Registry } from '../../platform/metrics.ts';
import type { AdapterEvent } from './adapter.ts';

export type OauthEvent =
  | AdapterEvent
  | 'requested'
  | 'granted'
  | 'denied'
  | 'tokens_issued'
  | 'tokens_refused'
  | 'registered'
  | 'document_fetched'
  | 'document_failed';

export function createOauthMetrics(registry: Registry): (event: OauthEvent) => void {
  const events = new Counter({
    name: 'quartermaster_oauth_events_total',
    help: 'Sign-ins of applications, by event: requested, granted, denied, tokens_issued, tokens_refused, shared (a refresh token used again within 60 seconds), code_reused, token_reused, revoked, registered, document_fetched, document_failed.',
    labelNames: ['event'],
    registers: [registry],
  });
  return (event) => events.inc({ event });
}
