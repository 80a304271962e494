import { Problem } from '../../platform/problem.ts';

const holders = { key: 'this key', project: 'this project', all: 'all projects' } as const;

/** @param most the runs, or the characters of their requests, that the holder may have at present */
export function tooManyAsyncRuns(holder: keyof typeof holders, most: number): Problem {
  return new Problem(
    'TOO_MANY_REQUESTS',
    `The asynchronous runs of ${holders[holder]} that wait or run, or the characters of their requests, reach the maximum (${most}). Retry when some have ended.`,
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
