import type { Scope } from '@quartermaster/contract';
import { commandName } from '@quartermaster/contract/command-name';
import { Problem, problemsOf } from '../../platform/problem.ts';
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

export const {
  scopeMissing,
  onlyAdministrators,
  onlyPeople,
  ownRole,
  lastAdministrator,
  passwordAccountStays,
  scopeNotOwned,
  rotationNotOwned,
} = problemsOf('PERMISSION_DENIED', {
  scopeMissing: (scope: Scope) =>
    `The API key, or your role in the project, lacks the scope "${scope}", which this operation requires. Use a key with this scope, or ask an administrator of the project.`,
  onlyAdministrators:
    'Only administrators of the service do this. Sign in to the console as one; API keys are not accepted.',
  onlyPeople: 'An API key cannot change who may do what. Sign in to the console.',
  /** A role that an identity provider gave must not become one that it cannot take away. */
  ownRole:
    'You cannot change your own role. Ask another administrator of the project, or an administrator of the service.',
  /** Nobody could manage the service any more. */
  lastAdministrator:
    'This is the last enabled administrator of the service. Make another account an administrator first.',
  passwordAccountStays: `The account with the password cannot be deleted here. Disable it, or run "${commandName} administrator link --reset".`,
  scopeNotOwned: (scope: Scope) =>
    `The API key lacks the scope "${scope}", so it cannot grant it. Leave the scope out, or use a key that has it.`,
  /** A key must not replace one that may do more. The message does not tell what. */
  rotationNotOwned:
    'The API key cannot replace a key that may do more than itself. Use a key that may do at least as much.',
});

export function projectNameTaken(name: string): Problem {
  return new Problem(
    'DUPLICATE_OBJECT',
    `A project named ${JSON.stringify(name)} already exists. Choose another name.`,
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

export const { tooManyProjects, tooManyKeys } = problemsOf(
  'RESOURCE_LIMIT_REACHED',
  {
    tooManyProjects: (most: number) =>
      `There are ${most} projects, which is the maximum of one installation. Use an existing project.`,
    tooManyKeys: (most: number) => `The project has ${most} usable keys, which is the maximum. Revoke some and retry.`,
  },
  { retryAfter: 60 },
);

/** A key that expires must not create keys that are valid for longer. */
export function keyOutlivesItsMaker(endsAt: number): Problem {
  return fieldInvalid(
    'body/expires_timestamp',
    'a later time',
    `at most ${endsAt}, when the key that creates it expires`,
  );
}
