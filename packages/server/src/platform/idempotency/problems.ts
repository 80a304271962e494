import { Problem } from '../problem.ts';
import { fieldInvalid } from '../validation/validation-error.ts';

export function requestInFlight(): Problem {
  return new Problem(
    'DUPLICATE_OBJECT',
    'Another request with the same Idempotency-Key is in progress. Retry when it has ended.',
    {
      retryAfter: 1,
    },
  );
}

/** The database has not confirmed the commit of the first request, and has not freed its key either. */
export function outcomeUnknown(): Problem {
  return new Problem(
    'SERVICE_UNAVAILABLE',
    'It is not yet known whether the request with the same Idempotency-Key was stored. Retry the request with this key.',
    { retryAfter: 1 },
  );
}

export function keyMalformed(): Problem {
  return fieldInvalid('headers/idempotency-key', 'another value', '1 to 255 printable ASCII characters, sent once');
}

/** The response is the same for requests with the right and with other content. */
export function keyClosed(most: number): Problem {
  const reason = `${most} requests with other content or credentials used it`;
  return new Problem(
    'DUPLICATE_OBJECT',
    `This Idempotency-Key no longer returns its response because ${reason}. Use a new key for each new request.`,
  );
}

export function keyReused(): Problem {
  const found = 'a key of a request with other content';
  return fieldInvalid('headers/idempotency-key', found, 'a new key for each new request');
}
