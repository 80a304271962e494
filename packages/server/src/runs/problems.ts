import { Problem } from '../kernel/problem.ts';

export function tooManyBackgroundRuns(): Problem {
  return new Problem('TOO_MANY_REQUESTS', 'Too many asynchronous runs are waiting or running. Try again later.', {
    retryAfter: 5,
  });
}

export function tooManyRunsOfKey(most: number): Problem {
  return new Problem(
    'TOO_MANY_REQUESTS',
    `${most} asynchronous runs of this key are waiting or running. Try again when some have ended.`,
    { retryAfter: 5 },
  );
}

export function serviceStopping(): Problem {
  return new Problem('SERVICE_UNAVAILABLE', 'The service is stopping.');
}

/** Another request with the same key came first. */
export function claimLost(): Problem {
  return new Problem('DUPLICATE_OBJECT', 'Idempotency-Key: a request with the same key is being answered. Try again.', {
    retryAfter: 1,
  });
}
