import type { Clock } from '../clock.ts';
import { idPrefixes } from '../identifier.ts';
import { createBoundedLog } from '../log/bounded-log.ts';
import type { Logger } from '../log/logger.ts';
import { Counter, type Registry } from '../metrics.ts';
import { Problem } from '../problem.ts';
import type { Owner, ProjectOwner } from './owner.ts';
import { type RateFields, type RateState, rateFields } from './rate-answers.ts';
import { createPortions, type Limit, type Portion } from './rate-portions.ts';
import { endOf, isOver, lengthOf, type RateLimitRepository, type RateRule } from './rate-rules.ts';

/** Counts requests and runs against the rate limits of projects. Without a rule it costs one look into a map. */
export interface Rates {
  /** Loads the rules. */
  load(): Promise<void>;
  /**
   * Counts a request, or a run of a tool. Nothing is counted when a rule refuses it.
   * @param tool `bundle_id/plugin_id`; null for a request
   * @param report receives the header fields before the promise settles
   * @returns undefined when no rule applies
   * @throws Problem TOO_MANY_REQUESTS for the limit of a minute, RESOURCE_LIMIT_REACHED for that of a day
   */
  take(owner: Owner, tool: string | null, report?: (fields: RateFields) => void): Promise<void> | undefined;
  /** Uncounts a request that repeats another one with the same `Idempotency-Key`. */
  putBack(owner: Owner): void;
  /** Returns what is left of each limit that applies to the owner. */
  listStates(owner: ProjectOwner): Promise<RateState[]>;
  /** Gives back what this process has taken and not used. */
  close(): Promise<void>;
}

export interface RatesDeps {
  readonly repository: RateLimitRepository;
  /** The clock that all processes share. */
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Registry;
}

const logLinesInMinute = 10;
/** Keys and applications, but not people. */
const isSubject = (id: string) => [idPrefixes.key, idPrefixes.grant].some((prefix) => id.startsWith(prefix));

export function createRates({ repository, clock, logger, metrics }: RatesDeps): Rates {
  const refusals = new Counter({
    name: 'quartermaster_rate_limited_total',
    help: 'Requests and runs that a rate limit refused, by window: minute or day.',
    labelNames: ['window'],
    registers: [metrics],
  });
  const log = createBoundedLog(logger, logLinesInMinute);
  const portions = createPortions(repository, clock);
  let rules: ReadonlyMap<string, RateRule[]> = new Map();

  function find({ projectId, keyId }: Owner, covers: (rule: RateRule) => boolean): Limit[] {
    const ofProject = rules.get(projectId ?? '');
    if (ofProject === undefined || keyId === null || !isSubject(keyId)) return [];
    return ofProject.filter((rule) => (rule.subjectId ?? keyId) === keyId && covers(rule)).flatMap(limitsOf);
  }

  const open = (limit: Limit, { keyId }: Owner): Portion => portions.open(limit, keyId ?? '');
  const secondsLeft = (portion: Parameters<typeof endOf>[0]): number =>
    Math.max(1, Math.ceil((endOf(portion) - clock.now()) / 1000));

  async function takeFrom(limits: readonly Limit[], owner: Owner, report?: (fields: RateFields) => void) {
    const opened = limits.map((limit) => open(limit, owner));
    const passed = await Promise.all(opened.map(portions.admit));
    const refused = opened.filter((_portion, at) => passed[at] === false);
    if (refused.length > 0) for (const portion of opened) if (!refused.includes(portion)) portions.putBack(portion);
    const states = opened.map((one) => ({ ...one, remaining: one.left + one.free, reset: secondsLeft(one) }));
    report?.(rateFields(states));
    // The longest wait is that of the strictest rule.
    const [longest] = refused.toSorted((a, b) => endOf(b) - endOf(a));
    if (longest === undefined) return;
    const { rule, window, limit } = longest;
    refusals.inc({ window });
    const event = { event: 'rate_limited', rate_limit: rule.id, project: owner.projectId, key: owner.keyId };
    log.warn({ ...event, tool: rule.tool, window, limit }, 'rate limit reached');
    throw limitReached(longest, secondsLeft(longest));
  }

  return {
    async load() {
      const loaded = await repository.listRules();
      rules = Map.groupBy(loaded, ({ projectId }) => projectId);
      portions.keepOnly(new Set(loaded.map(({ id }) => id)));
    },
    take(owner, tool, report) {
      const bundle = tool?.split('/', 1)[0];
      const limits = find(owner, (rule) => rule.tool === tool || rule.tool === bundle);
      return limits.length === 0 ? undefined : takeFrom(limits, owner, report);
    },
    putBack: (owner) => {
      for (const limit of find(owner, ({ tool }) => tool === null)) portions.putBack(open(limit, owner));
    },
    async listStates(owner) {
      const limits = find(owner, () => true);
      const usage = limits.length === 0 ? [] : await repository.listUsage(owner.projectId, owner.keyId ?? '');
      const now = clock.now();
      return limits.map((limit) => {
        const { ruleId, window, start, left } = open(limit, owner);
        const stored = usage.find((one) => one.ruleId === ruleId && one.window === window && !isOver(one, now));
        const unused = start === stored?.start ? left : 0;
        const remaining = limit.limit - (stored?.count ?? 0) + unused;
        return { ...limit, remaining, reset: secondsLeft({ window, start: now - (now % lengthOf(window)) }) };
      });
    },
    close: portions.close,
  };
}

function limitsOf(rule: RateRule): Limit[] {
  const limits = { minute: rule.perMinute, day: rule.perDay };
  return (['minute', 'day'] as const).flatMap((window) => {
    const limit = limits[window];
    return limit === null ? [] : [{ rule, window, limit }];
  });
}

function limitReached({ rule, window, limit }: Limit, seconds: number): Problem {
  const what = `${rule.tool === null ? 'request' : 'run'}${limit === 1 ? '' : 's'}`;
  const of = rule.tool === null ? '' : ` of ${rule.tool}`;
  const message = `The rate limit of ${limit} ${what}${of} per ${window} is reached. Retry in ${seconds} seconds.`;
  return new Problem(window === 'minute' ? 'TOO_MANY_REQUESTS' : 'RESOURCE_LIMIT_REACHED', message, {
    retryAfter: seconds,
    details: [{ rate_limit_id: rule.id, limit, window, retry_after_seconds: seconds }],
  });
}
