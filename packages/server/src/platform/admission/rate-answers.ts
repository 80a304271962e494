import type { IncomingMessage } from 'node:http';
import type { Problem } from '../problem.ts';
import { type RateRule, type RateWindow, rateWindows } from './rate-rules.ts';

/** What is left of one limit. */
export interface RateState {
  readonly rule: RateRule;
  readonly window: RateWindow;
  readonly limit: number;
  /** Portions of other processes are not part of it. */
  readonly remaining: number;
  /** Seconds until the next window. */
  readonly reset: number;
}

/** The names and values of response headers. */
export type RateFields = Readonly<Record<'RateLimit-Policy' | 'RateLimit', string>>;

/** More would fill the header section of a response. */
const mostListed = 8;

/** Describes the limits with the least left. Source: draft-ietf-httpapi-ratelimit-headers-10 */
export function rateFields(states: readonly RateState[]): RateFields {
  const listed = states.toSorted((a, b) => a.remaining - b.remaining).slice(0, mostListed);
  const items = (describe: (state: RateState) => string) =>
    listed.map((state) => `"${state.rule.id}-${state.window}";${describe(state)}`).join(', ');
  return {
    'RateLimit-Policy': items(({ limit, window }) => `q=${limit};w=${rateWindows[window]}`),
    RateLimit: items(({ remaining, reset }) => `r=${remaining};t=${reset}`),
  };
}

/** The parts of a response that are used. */
interface Reply {
  readonly raw: { readonly headersSent: boolean };
  getHeader(name: string): unknown;
  header(name: string, value: string): unknown;
}

/** Adds to the fields that are already set. Has no effect when the headers were sent. */
export function addRateFields(reply: Reply, fields: RateFields): void {
  if (reply.raw.headersSent) return;
  for (const [name, value] of Object.entries(fields)) {
    const known = reply.getHeader(name);
    reply.header(name, known === undefined ? value : `${known}, ${value}`);
  }
}

/** The errors of requests that a rate limit refused and that their route answers itself. */
export const rateRefusals = new WeakMap<IncomingMessage, Problem>();
