import { setTimeout as pause } from 'node:timers/promises';
import type { Admission } from '../admission/admission.ts';
import type { Owner } from '../admission/owner.ts';
import { queues } from '../admission/queues.ts';
import type { Clock } from '../clock.ts';
import type { CountExceeded } from '../concurrency/limit-counter.ts';
import type { RetryPolicy } from '../concurrency/retry-delay.ts';
import { startHeartbeat } from '../jobs/heartbeat.ts';
import { retryUntilStored } from '../jobs/retry-until-stored.ts';
import { parseExactJson } from '../json/exact-json.ts';
import type { Logger } from '../log/logger.ts';
import { silentMs } from '../nodes/node-repository.ts';
import type {
  ClaimOutcome,
  CompletedClaim,
  HeldClaim,
  IdempotencyRepository,
  NewClaim,
  RequestKey,
} from './idempotency-repository.ts';
import { keyClosed, keyMalformed, keyReused, outcomeInDoubt, outcomeUnknown, requestInFlight } from './problems.ts';

/**
 * The same key and content have one effect and one answer, also for concurrent requests and after restarts. Source:
 * docs/contract.md "Files".
 */
export interface Idempotency {
  /**
   * Claims the key of a request. While another node runs one with this key, it waits until that one has ended, or until the node
   * would count as ended.
   * @throws DUPLICATE_OBJECT while a request with this key runs, and when one that cannot be repeated has ended without an answer
   */
  begin(request: NewRequest): Promise<RunningRequest | AnsweredRequest>;
}

export type NewRequest = RequestKey & Pick<NewClaim, 'isRepeatable'>;

/**
 * The request holds the key until one of these functions is called. After a crash the key of a repeatable request stays held until
 * its node counts as ended, or for the lease.
 */
export interface RunningRequest {
  readonly kind: 'running';
  /**
   * Returns the row to store in the transaction of the effect. The claim is no longer renewed. Call `stored` after the
   * commit.
   * @param instead is stored when the answers of the project leave no space for the answer
   */
  complete(fingerprint: string, answer: unknown, instead?: unknown): Promise<CompletedClaim>;
  stored(): void;
  /**
   * Completes and stores the claim by itself, for effects without rows. Returns false when the claim was lost, or when the database
   * failed after a request that cannot be repeated.
   */
  finish(fingerprint: string, answer: unknown, instead?: unknown): Promise<boolean>;
  /**
   * Frees the key immediately. Has no effect when an answer is stored.
   * @param mayHaveActed true keeps the key of a request that cannot be repeated
   */
  release(mayHaveActed?: boolean): Promise<void>;
  /**
   * Releases the key when it is unknown whether the answer was stored. In the database, the release waits for a commit
   * that is still running, and then finds the answer or frees the key. The caller does not wait.
   */
  releaseLater(): void;
}

export interface AnsweredRequest {
  readonly kind: 'answered';
  /**
   * Returns the stored answer.
   * @param fingerprints of this request: the current one, and those under earlier keys or versions
   * @throws REQUEST_VALIDATION_ERROR when this request is another one, DUPLICATE_OBJECT after too many wrong requests
   */
  replay(fingerprints: readonly string[]): Promise<unknown>;
}

export interface IdempotencyTimes {
  /** Milliseconds for which the claim of a dead process blocks its key. */
  readonly lease: number;
  /** Milliseconds for which an answer is stored. */
  readonly memory: number;
}
export const defaultIdempotencyTimes: IdempotencyTimes = { lease: 30_000, memory: 24 * 3_600_000 };

/**
 * After this many wrong repetitions a key returns no answer any more. Repeated guesses then cannot find the credentials
 * of another request, because callers without an API key are one caller.
 */
const maxWrongRequests = 10;

export interface IdempotencyDeps {
  readonly repository: IdempotencyRepository;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The row of this process in the table of nodes. */
  readonly nodeId?: string | null;
  /** Without it, no request waits for another node. */
  readonly admission?: Pick<Admission, 'places'>;
  readonly times?: IdempotencyTimes;
  readonly countExceeded?: CountExceeded;
  /** Called for each request that gets the answer of an earlier one. */
  readonly onReplay?: (caller: Owner) => void;
}

export function createIdempotency(deps: IdempotencyDeps): Idempotency {
  const times = deps.times ?? defaultIdempotencyTimes;
  const inDoubt = new Set<string>();
  const waits = deps.admission?.places('idempotency_waits', {
    places: queues.idempotency_waits.atOnce,
    refuse: requestInFlight,
  });

  async function tryClaim(request: NewRequest): Promise<{ readonly claim: NewClaim; readonly outcome: ClaimOutcome }> {
    const now = deps.clock.now();
    const claim = { ...request, nodeId: deps.nodeId ?? null, heldUntil: now + times.lease };
    return { claim, outcome: await deps.repository.claim(claim, now) };
  }

  /** Waits for the request of another node. */
  async function claimWhenEnded(request: NewRequest): ReturnType<typeof tryClaim> {
    const until = performance.now() + waitMs;
    let tried = await tryClaim(request);
    if (tried.outcome.kind !== 'running' || !tried.outcome.elsewhere) return tried;
    const leave = waits?.tryEnter({ projectId: request.projectId, keyId: request.callerId });
    if (leave == null) return tried;
    try {
      while (tried.outcome.kind === 'running' && performance.now() < until) {
        await pause(lookEveryMs);
        tried = await tryClaim(request);
      }
      return tried;
    } finally {
      leave();
    }
  }

  return {
    async begin(request) {
      const { claim, outcome } = await claimWhenEnded(request);
      if (outcome.kind === 'running') throw inDoubt.has(nameOf(request)) ? outcomeInDoubt() : requestInFlight();
      if (outcome.kind === 'unknown') throw outcomeUnknown();
      if (outcome.kind === 'claimed') return holdClaim(deps, claim, { times, inDoubt });
      return {
        kind: 'answered',
        async replay(fingerprints) {
          const compared = await deps.repository.compare(request, fingerprints, maxWrongRequests);
          if (compared.kind === 'closed') {
            deps.countExceeded?.('idempotency_wrong_requests');
            throw keyClosed(maxWrongRequests);
          }
          if (compared.kind === 'other') throw keyReused();
          if (compared.kind === 'forgotten') throw requestInFlight();
          deps.onReplay?.({ projectId: request.projectId, keyId: request.callerId });
          return parseExactJson(compared.answer);
        },
      };
    },
  };
}

/** Milliseconds that a request waits for one of another node, which is silent for long enough by then if it was killed. */
const waitMs = silentMs + 1_000;
const lookEveryMs = 1_000;

/** Retries of a release or a completion, while the database cannot be reached or a commit holds the row. */
const claimRetries: RetryPolicy = { firstMs: 250, longestMs: 2_000 };

const nameOf = ({ projectId, operation, key, callerId }: RequestKey) =>
  JSON.stringify([projectId, operation, key, callerId]);

interface HoldOptions {
  readonly times: IdempotencyTimes;
  /** The keys whose commit this process has sent and the database has not confirmed. */
  readonly inDoubt: Set<string>;
}

function holdClaim(deps: IdempotencyDeps, first: NewClaim, { times, inDoubt }: HoldOptions): RunningRequest {
  const { repository, clock, logger } = deps;
  let claim: HeldClaim = first;
  let over = false;
  const heartbeat = startHeartbeat({
    leaseMs: times.lease,
    async renew() {
      const heldUntil = clock.now() + times.lease;
      const isHeld = await repository.renew(claim, heldUntil);
      if (isHeld) claim = { ...claim, heldUntil };
      return isHeld;
    },
    // The completion detects a lost claim.
    onLost: () => void heartbeat.close(),
    onError: (error) => logger.warn({ err: error }, 'idempotency claim not renewed'),
  });

  async function complete(fingerprint: string, answer: unknown, instead?: unknown): Promise<CompletedClaim> {
    await heartbeat.close();
    return {
      ...claim,
      fingerprint,
      answer: JSON.stringify(answer),
      expiresAt: clock.now() + times.memory,
      ...(instead === undefined ? {} : { insteadOfAnswer: JSON.stringify(instead) }),
    };
  }

  async function release(mayHaveActed = false): Promise<void> {
    await heartbeat.close();
    if (over || (mayHaveActed && !first.isRepeatable)) return;
    over = true;
    await repository.release(claim);
  }

  return {
    kind: 'running',
    complete,
    release,
    releaseLater() {
      over = true;
      inDoubt.add(nameOf(claim));
      heartbeat
        .close()
        .then(() => repeatWhileHeld(deps, claim, () => repository.release(claim)))
        .catch((error) => logger.warn({ err: error }, 'idempotency claim not released'))
        .finally(() => inDoubt.delete(nameOf(claim)));
    },
    stored() {
      over = true;
    },
    async finish(fingerprint, answer, instead) {
      const completed = await complete(fingerprint, answer, instead);
      over = await repository.complete(completed).catch((error: unknown) => {
        if (first.isRepeatable) throw error;
        logger.warn({ err: error }, 'idempotent answer not stored yet');
        // The caller gets its answer now. A repetition gets it as soon as the database can be reached.
        repeatWhileHeld(deps, completed, () => repository.complete(completed)).catch((last) =>
          logger.warn({ err: last }, 'idempotent answer not stored'),
        );
        return false;
      });
      return over;
    },
  };
}

/** Repeats until the claim expires. A key is free then, unless its request cannot be repeated. */
async function repeatWhileHeld(
  { clock, logger }: IdempotencyDeps,
  { heldUntil }: HeldClaim,
  attempt: () => Promise<unknown>,
): Promise<void> {
  await retryUntilStored(attempt, {
    policy: claimRetries,
    signal: new AbortController().signal,
    isRetryable: () => clock.now() < heldUntil,
    onRetry: (error) => logger.debug({ err: error }, 'idempotency claim retried'),
  });
}

const keyShape = /^[\x20-\x7e]{1,255}$/;

/** Returns the key of a request, or undefined without one. Throws REQUEST_VALIDATION_ERROR. */
export function readIdempotencyKey(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || !keyShape.test(header)) throw keyMalformed();
  return header;
}
