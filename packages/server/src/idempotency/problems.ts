import { fieldInvalid, Problem } from '../kernel/problem.ts';

export function requestInFlight(): Problem {
  return new Problem('DUPLICATE_OBJECT', 'Idempotency-Key: a request with the same key is being answered. Try again.', {
    retryAfter: 1,
  });
}

export function keyMalformed(): Problem {
  return fieldInvalid('headers/idempotency-key', 'something else', '1 to 255 printable ASCII characters, once');
}

/** The same for right and wrong requests. */
export function keyClosed(most: number): Problem {
  const reason = `${most} requests with other content or credentials were sent with it`;
  return new Problem(
    'DUPLICATE_OBJECT',
    `Idempotency-Key: this key no longer gives its answer, because ${reason}. Use a new key for a new request.`,
  );
}

export function keyReused(): Problem {
  return fieldInvalid(
    'headers/idempotency-key',
    'a key that was used for a request with other content',
    'a new key for a new request',
  );
}
