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
export function outcomeInDoubt(): Problem {
  return new Problem(
    'SERVICE_UNAVAILABLE',
    'It is not yet known whether the request with the same Idempotency-Key was stored. Retry the request with this key.',
    { retryAfter: 1 },
  );
}

/** The client must decide, because the service can neither find the outcome nor run the request again without a risk. */
export function outcomeUnknown(): Problem {
  return new Problem(
    'DUPLICATE_OBJECT',
    'The outcome of the request with this Idempotency-Key is unknown: its process ended before it stored a response, and it was not run again because it may already have changed data. Check the result where the plugin acts. Use another key to run it again.',
    { details: [{ reason: 'may_have_acted', has_begun: true }] },
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
