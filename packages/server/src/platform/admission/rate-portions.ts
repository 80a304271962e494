import type { Clock } from '../clock.ts';
import {
  isOver,
  lengthOf,
  type RateLimitRepository,
  type RateRule,
  type RateWindow,
  type UsagePlace,
} from './rate-rules.ts';

/** One limit of a rule. */
export interface Limit {
  readonly rule: RateRule;
  readonly window: RateWindow;
  readonly limit: number;
}

/** What this process may still admit without a query, for one subject of a limit. */
export interface Portion extends Limit, UsagePlace {
  start: number;
  left: number;
  /** What this process has passed in the window. */
  passed: number;
  /** What the store had left after the last query. */
  free: number;
  /** Until this time no query is sent, because nothing was left. */
  emptyUntil: number;
  waiting: number;
  asking: Promise<void> | undefined;
}

export interface Portions {
  open(limit: Limit, subjectId: string): Portion;
  /** Takes one from a portion, and asks the store for the next portion when it is used up. @returns false when nothing is left */
  admit(portion: Portion): Promise<boolean>;
  /** Undoes `admit`. */
  putBack(portion: Portion): void;
  /** Forgets the portions of other rules. */
  keepOnly(rules: ReadonlySet<string>): void;
  /** Gives back what is left. */
  close(): Promise<void>;
}

/** Other processes may give back what they have not used. */
const emptyMs = 1000;
const mostPortions = 10_000;

export function createPortions(repository: Pick<RateLimitRepository, 'take' | 'returnUnused'>, clock: Clock): Portions {
  const portions = new Map<string, Portion>();

  /** Forgets ended windows, or else the portion that was opened first. What is left of it is not used. */
  function forgetSome(): void {
    for (const [name, portion] of portions) if (isOver(portion, clock.now())) portions.delete(name);
    const [first] = portions.keys();
    if (portions.size >= mostPortions && first !== undefined) portions.delete(first);
  }

  async function ask(portion: Portion): Promise<void> {
    const taken = await repository.take({ ...portion, wanted: portion.waiting });
    portion.free = taken === undefined ? 0 : portion.limit - taken.count;
    if (taken === undefined) portion.emptyUntil = clock.now() + emptyMs;
    else [portion.start, portion.left] = [taken.start, portion.left + taken.portion];
  }

  return {
    open(limit, subjectId) {
      const name = `${limit.rule.id} ${limit.window} ${subjectId}`;
      const known = portions.get(name);
      if (known !== undefined) return known;
      if (portions.size >= mostPortions) forgetSome();
      const portion = { ...limit, ruleId: limit.rule.id, subjectId, ...fresh(limit, 0), waiting: 0, asking: undefined };
      portions.set(name, portion);
      return portion;
    },
    async admit(portion) {
      for (;;) {
        const now = clock.now();
        if (isOver(portion, now)) Object.assign(portion, fresh(portion, now));
        if (portion.left > 0) {
          portion.left -= 1;
          portion.passed += 1;
          return true;
        }
        if (now < portion.emptyUntil) return false;
        portion.waiting += 1;
        portion.asking ??= ask(portion).finally(() => {
          portion.asking = undefined;
        });
        await portion.asking.finally(() => {
          portion.waiting -= 1;
        });
      }
    },
    putBack(portion) {
      if (portion.passed === 0 || isOver(portion, clock.now())) return;
      portion.left += 1;
      portion.passed -= 1;
    },
    keepOnly: (rules) => {
      for (const [name, { ruleId }] of portions) if (!rules.has(ruleId)) portions.delete(name);
    },
    async close() {
      const unused = [...portions.values()].filter((portion) => portion.left > 0 && !isOver(portion, clock.now()));
      // What cannot be given back is not used in this window.
      await Promise.all(unused.map((portion) => repository.returnUnused(portion, portion.left).catch(() => {})));
    },
  };
}

/** The counts at the start of a window. */
function fresh({ window, limit }: Limit, now: number) {
  return { start: now - (now % lengthOf(window)), left: 0, passed: 0, free: limit, emptyUntil: 0 };
}
