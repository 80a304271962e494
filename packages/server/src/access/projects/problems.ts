import type { Scope } from '@quartermaster/contract';
import { commandName } from '@quartermaster/contract/command-name';
import { Problem } from '../../platform/problem.ts';
import { quoteText } from '../../platform/quote-text.ts';
import { fieldInvalid } from '../../platform/validation/validation-error.ts';

/** The response is the same for a missing, malformed, unknown, revoked or expired key. */
export function apiKeyRejected(): Problem {
  return new Problem(
    'APIKEY_VALIDATION_FAILED',
    'The API key is missing or not valid. Send it in the header "Authorization: Bearer <API_KEY>".',
    { headers: { 'WWW-Authenticate': 'Bearer' } },
  );
}

export function scopeMissing(scope: Scope): Problem {
  return new Problem(
    'PERMISSION_DENIED',
    `The API key, or your role in the project, lacks the scope "${scope}", which this operation requires. Use a key with this scope, or ask an administrator of the project.`,
  );
}

export function projectNameTaken(name: string): Problem {
  return new Problem(
    'DUPLICATE_OBJECT',
    `A project named ${JSON.stringify(name)} already exists. Choose another name.`,
  );
}

export function onlyAdministrators(): Problem {
  return new Problem(
    'PERMISSION_DENIED',
    'Only administrators of the service do this. Sign in to the console as one; API keys are not accepted.',
  );
}

export function onlyPeople(): Problem {
  return new Problem('PERMISSION_DENIED', 'An API key cannot change who may do what. Sign in to the console.');
}

/** A role that an identity provider gave must not become one that it cannot take away. */
export function ownRole(): Problem {
  return new Problem(
    'PERMISSION_DENIED',
    'You cannot change your own role. Ask another administrator of the project, or an administrator of the service.',
  );
}

/** Nobody could manage the service any more. */
export function lastAdministrator(): Problem {
  return new Problem(
    'PERMISSION_DENIED',
    'This is the last enabled administrator of the service. Make another account an administrator first.',
  );
}

export function passwordAccountStays(): Problem {
  return new Problem(
    'PERMISSION_DENIED',
    `The account with the password cannot be deleted here. Disable it, or run "${commandName} administrator link --reset".`,
  );
}

export function scopeNotOwned(scope: Scope): Problem {
  return new Problem(
    'PERMISSION_DENIED',
    `The API key lacks the scope "${scope}", so it cannot grant it. Leave the scope out, or use a key that has it.`,
  );
}

/** @param name what the request names; null for every collection or plugin */
export function limitNotOwned(what: 'collection' | 'tool', name: string | null): Problem {
  const every = what === 'collection' ? 'every collection' : 'every plugin';
  return new Problem(
    'PERMISSION_DENIED',
    `The API key is limited by its \`${what}s\` and cannot grant ${name === null ? every : quoteText(name)}. Name only ${what}s of this key, or use a key without this limit.`,
  );
}

/** A key must not replace one that may do more. The message does not tell what. */
export function rotationNotOwned(): Problem {
  return new Problem(
    'PERMISSION_DENIED',
    'The API key cannot replace a key that may do more than itself. Use a key that may do at least as much.',
  );
}

export function tooManyProjects(most: number): Problem {
  return new Problem(
    'RESOURCE_LIMIT_REACHED',
    `There are ${most} projects, which is the maximum of one installation. Use an existing project.`,
    {
      retryAfter: 60,
    },
  );
}

export function tooManyKeys(most: number): Problem {
  return new Problem(
    'RESOURCE_LIMIT_REACHED',
    `The project has ${most} usable keys, which is the maximum. Revoke some and retry.`,
    { retryAfter: 60 },
  );
}

/** A key that expires must not create keys that are valid for longer. */
export function keyOutlivesItsMaker(endsAt: number): Problem {
  return fieldInvalid(
    'body/expires_timestamp',
    'a later time',
    `at most ${endsAt}, when the key that creates it expires`,
  );
}
