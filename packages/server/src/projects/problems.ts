import type { Scope } from '@quartermaster/contract';
import { fieldInvalid, Problem } from '../kernel/problem.ts';

/** One answer for a missing, malformed, unknown, revoked or expired key. */
export function apiKeyRejected(): Problem {
  return new Problem(
    'APIKEY_VALIDATION_FAILED',
    'The API key is missing or not valid; expected the header "Authorization: Bearer <API_KEY>".',
    { headers: { 'WWW-Authenticate': 'Bearer' } },
  );
}

export function scopeMissing(scope: Scope): Problem {
  return new Problem('PERMISSION_DENIED', `This operation needs an API key with the scope "${scope}".`);
}

export function projectNameTaken(name: string): Problem {
  return new Problem('DUPLICATE_OBJECT', `There is a project named ${JSON.stringify(name)} already.`);
}

export function onlyAdministrators(): Problem {
  return new Problem('PERMISSION_DENIED', 'Only the administrator makes projects; a key manages keys of its own.');
}

export function scopeNotOwned(scope: Scope): Problem {
  return new Problem('PERMISSION_DENIED', `A key gives only scopes that it has; this one lacks "${scope}".`);
}

export function tooManyProjects(most: number): Problem {
  return new Problem('RESOURCE_LIMIT_REACHED', `There are ${most} projects, the most that an installation may have.`, {
    retryAfter: 60,
  });
}

export function tooManyKeys(most: number): Problem {
  return new Problem(
    'RESOURCE_LIMIT_REACHED',
    `The project has ${most} usable keys, the most it may have. Revoke some first.`,
    {
      retryAfter: 60,
    },
  );
}

/** An expiring key must not create keys that outlive it. */
export function keyOutlivesItsMaker(endsAt: number): Problem {
  return fieldInvalid('body/expires_timestamp', 'a time after the end of the key that creates it', `at most ${endsAt}`);
}
