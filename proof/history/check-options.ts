import type { Random } from '../support/random.ts';
import type { Findings } from './findings.ts';
import { fateOf, type Operation, type Request } from './history.ts';
import type { Target } from './send-request.ts';

export interface CheckOptions {
  readonly target: Target;
  readonly operations: readonly Operation[];
  readonly findings: Findings;
  readonly random: Random;
  /** Returns the number of calls of a plugin that reached the third party, before and after any crash. */
  readonly upstreamCalls: (plugin: 'read' | 'write', text: string) => number;
  /**
   * Number of contents that are read back completely in addition to the newest ones. The others are compared by their
   * listed hash.
   */
  readonly contents?: number;
  /** Milliseconds after which unfinished work counts as stuck: the longest lease plus 30 s. */
  readonly workEndsWithin?: number;
  /** Whether faults may exhaust the attempts of a record. A retry must then make the record ready. */
  readonly recordsMayFail?: boolean;
}

export type Of<What extends Request['what']> = Operation & { readonly request: Extract<Request, { what: What }> };

export function only<What extends Request['what']>(operations: readonly Operation[], what: What): Of<What>[] {
  return operations.filter((one): one is Of<What> => one.request.what === what);
}

/** Returns the fate of each deletion that clients requested, by id. */
export function fates<What extends Request['what']>(
  operations: readonly Operation[],
  what: What,
  idOf: (request: Of<What>['request']) => string,
): Map<string, ReturnType<typeof fateOf>> {
  const result = new Map<string, ReturnType<typeof fateOf>>();
  for (const one of only(operations, what)) {
    const id = idOf(one.request);
    // A repeated deletion is refused with 404, so the first response counts.
    if (result.get(id) !== 'done') result.set(id, fateOf(one));
  }
  return result;
}

export async function getJson(target: Target, url: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(url, { headers: { Authorization: `Bearer ${target.key}` } });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

/** Acts on all items, at most four at a time. */
export async function forEachConcurrently<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const next = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await act(item);
  };
  await Promise.all([next(), next(), next(), next()]);
}
