import { Problem } from '../kernel/problem.ts';

export function tooManyAsyncRuns(): Problem {
  return new Problem(
    'TOO_MANY_REQUESTS',
    'Too many asynchronous runs are waiting or running. Retry when some have ended.',
    {
      retryAfter: 5,
    },
  );
}

export function tooManyAsyncRunsOfKey(most: number): Problem {
  return new Problem(
    'TOO_MANY_REQUESTS',
    `${most} asynchronous runs of this key are waiting or running, which is the maximum. Retry when some have ended.`,
    { retryAfter: 5 },
  );
}

export function serviceStopping(): Problem {
  return new Problem('SERVICE_UNAVAILABLE', 'The service is stopping. Retry when it has restarted.');
}

/** Another request claimed the same idempotency key first. */
export function claimLost(): Problem {
  return new Problem(
    'DUPLICATE_OBJECT',
    'Another request with the same Idempotency-Key is in progress. Retry when it has ended.',
    {
      retryAfter: 1,
    },
  );
}
