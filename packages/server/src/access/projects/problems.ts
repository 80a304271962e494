import type { Scope } from '@quartermaster/contract';
import { Problem } from '../../platform/problem.ts';
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
    `The API key lacks the scope "${scope}", which this operation requires. Use a key with this scope.`,
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
    'An API key cannot create or delete projects. Sign in to the console as administrator.',
  );
}

export function scopeNotOwned(scope: Scope): Problem {
  return new Problem(
    'PERMISSION_DENIED',
    `The API key lacks the scope "${scope}", so it cannot grant it. Leave the scope out, or use a key that has it.`,
  );
}

/** @param tool a quoted name, or `every plugin` */
export function toolNotOwned(tool: string): Problem {
  return new Problem(
    'PERMISSION_DENIED',
    `The API key is limited by its \`tools\` and cannot grant ${tool}. Name only tools of this key, or use a key without this limit.`,
  );
}

/** @param tool the quoted name of a plugin or bundle */
export function toolNotPermitted(tool: string): Problem {
  return new Problem(
    'PERMISSION_DENIED',
    `The \`tools\` of the API key do not include ${tool}. Use a key whose \`tools\` include it, or a key without this limit.`,
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
