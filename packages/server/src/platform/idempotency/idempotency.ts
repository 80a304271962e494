import type { Owner } from '../admission/owner.ts';
import type { Clock } from '../clock.ts';
import type { CountExceeded } from '../concurrency/limit-counter.ts';
import type { RetryPolicy } from '../concurrency/retry-delay.ts';
import { startHeartbeat } from '../jobs/heartbeat.ts';
import { retryUntilStored } from '../jobs/retry-until-stored.ts';
import { parseExactJson } from '../json/exact-json.ts';
import type { Logger } from '../log/logger.ts';
import { Problem } from '../problem.ts';
import { fieldInvalid } from '../validation/validation-error.ts';
import type { CompletedClaim, HeldClaim, IdempotencyRepository, RequestKey } from './idempotency-repository.ts';

/**
 * The same key and content have one effect and one answer, also for concurrent requests and after restarts. Source:
 * docs/contract.md "Files".
 */
export interface Idempotency {
  /** Throws DUPLICATE_OBJECT while a request with this key runs. */
  begin(request: RequestKey): Promise<RunningRequest | AnsweredRequest>;
}

/** The request holds the key until one of these functions is called. After a crash the key stays held for the lease. */
export interface RunningRequest {
  readonly kind: 'running';
  /**
   * Returns the row to store in the transaction of the effect. The claim is no longer renewed. Call `stored` after the
   * commit.
   * @param instead is stored when the answers of the project leave no space for the answer
   */
  complete(fingerprint: string, answer: unknown, instead?: unknown): Promise<CompletedClaim>;
  stored(): void;
  /** Completes and stores the claim by itself, for effects without rows. Returns false when the claim was lost. */
  finish(fingerprint: string, answer: unknown): Promise<boolean>;
  /** Frees the key immediately after a request without effect. Has no effect when an answer is stored. */
  release(): Promise<void>;
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
  readonly times?: IdempotencyTimes;
  readonly countExceeded?: CountExceeded;
  /** Called for each request that gets the answer of an earlier one. */
  readonly onReplay?: (caller: Owner) => void;
}

export function createIdempotency(deps: IdempotencyDeps): Idempotency {
  const times = deps.times ?? defaultIdempotencyTimes;
  const inDoubt = new Set<string>();
  return {
    async begin(request) {
      const now = deps.clock.now();
      const claim = { ...request, heldUntil: now + times.lease };
      const outcome = await deps.repository.claim(claim, now);
      if (outcome.kind === 'running') throw inDoubt.has(nameOf(request)) ? outcomeUnknown() : requestInFlight();
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

/** Retries of a release, while the database cannot be reached or a commit holds the row. */
const releaseRetries: RetryPolicy = { firstMs: 250, longestMs: 2_000 };

const nameOf = ({ projectId, operation, key, callerId }: RequestKey) =>
  JSON.stringify([projectId, operation, key, callerId]);

interface HoldOptions {
  readonly times: IdempotencyTimes;
  /** The keys whose commit this process has sent and the database has not confirmed. */
  readonly inDoubt: Set<string>;
}

function holdClaim(deps: IdempotencyDeps, first: HeldClaim, { times, inDoubt }: HoldOptions): RunningRequest {
  const { repository, clock, logger } = deps;
  let claim = first;
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

  async function release(): Promise<void> {
    await heartbeat.close();
    if (over) return;
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
        .then(() => releaseUntilStored(deps, claim))
        .catch((error) => logger.warn({ err: error }, 'idempotency claim not released'))
        .finally(() => inDoubt.delete(nameOf(claim)));
    },
    stored() {
      over = true;
    },
    async finish(fingerprint, answer) {
      const completed = await complete(fingerprint, answer);
      over = await repository.complete(completed);
      return over;
    },
  };
}

/** Repeats the release until the claim expires, after which the key is free anyway. */
async function releaseUntilStored({ repository, clock, logger }: IdempotencyDeps, claim: HeldClaim): Promise<void> {
  await retryUntilStored(() => repository.release(claim), {
    policy: releaseRetries,
    signal: new AbortController().signal,
    isRetryable: () => clock.now() < claim.heldUntil,
    onRetry: (error) => logger.debug({ err: error }, 'idempotency claim release retried'),
  });
}

const keyShape = /^[\x20-\x7e]{1,255}$/;

/** Returns the key of a request, or undefined without one. Throws REQUEST_VALIDATION_ERROR. */
export function readIdempotencyKey(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || !keyShape.test(header)) throw keyMalformed();
  return header;
}

function requestInFlight(): Problem {
  return new Problem(
    'DUPLICATE_OBJECT',
    'Another request with the same Idempotency-Key is in progress. Retry when it has ended.',
    {
      retryAfter: 1,
    },
  );
}

/** The database has not confirmed the commit of the first request, and has not freed its key either. */
function outcomeUnknown(): Problem {
  return new Problem(
    'SERVICE_UNAVAILABLE',
    'It is not yet known whether the request with the same Idempotency-Key was stored. Retry the request with this key.',
    { retryAfter: 1 },
  );
}

function keyMalformed(): Problem {
  return fieldInvalid('headers/idempotency-key', 'another value', '1 to 255 printable ASCII characters, sent once');
}

/** The response is the same for requests with the right and with other content. */
function keyClosed(most: number): Problem {
  const reason = `${most} requests with other content or credentials used it`;
  return new Problem(
    'DUPLICATE_OBJECT',
    `This Idempotency-Key no longer returns its response because ${reason}. Use a new key for each new request.`,
  );
}

function keyReused(): Problem {
  const found = 'a key of a request with other content';
  return fieldInvalid('headers/idempotency-key', found, 'a new key for each new request');
}
