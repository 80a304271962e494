import { fieldInvalid, Problem } from '../kernel/problem.ts';
import { quoteText } from '../kernel/quote-text.ts';

/** The operator has given no encryption key. */
export function sealingNotConfigured(): Problem {
  return new Problem(
    'NOT_CONFIGURED',
    'Credential profiles need an encryption key: set QUARTERMASTER_SEALING_KEY or QUARTERMASTER_SEALING_KEY_FILE.',
  );
}

export function profileNotFound(name: string): Problem {
  return new Problem('OBJECT_NOT_FOUND', `There is no credential profile named ${quoteText(name)}.`);
}

export function profileNameTaken(name: string): Problem {
  const update = `POST /v1/credential_profiles/${name} gives it other credentials`;
  return new Problem('DUPLICATE_OBJECT', `There is a credential profile named ${quoteText(name)} already; ${update}.`);
}

export function tooManyProfiles(most: number): Problem {
  return new Problem(
    'RESOURCE_LIMIT_REACHED',
    `The project has ${most} credential profiles, the most it may have. Delete some first.`,
    { retryAfter: 60 },
  );
}

/** Somebody else gave it other credentials at the same moment. */
export function profileBusy(name: string): Problem {
  return new Problem('DUPLICATE_OBJECT', `The credential profile ${quoteText(name)} was changed by another request.`);
}

/** Of what stands in `credentials.$profile`. */
export function profileReferenceInvalid(found: string, expected: string): Problem {
  return fieldInvalid('body/credentials/$profile', found, expected);
}

/** `profile rotate` ran with a new key while this process was running. */
export function profileKeyMissing(name: string, keyId: string): Problem {
  return new Problem(
    'SERVICE_UNAVAILABLE',
    `The credentials of the profile ${quoteText(name)} are encrypted with the key ${keyId}, which this process does not have. Restart it with that key in QUARTERMASTER_SEALING_KEY, QUARTERMASTER_SEALING_KEY_FILE or the file "encryption-key" of its data folder.`,
    { retryAfter: 60, isFault: true },
  );
}

/** What is stored was encrypted with another key, or for another place, or was changed. */
export function profileUnreadable(name: string): Problem {
  const way = `give it credentials anew by POST /v1/credential_profiles/${name}`;
  return new Problem(
    'INTERNAL_SERVER_ERROR',
    `The credential profile ${quoteText(name)} cannot be decrypted: what is stored is not what was encrypted; ${way}.`,
  );
}

/** The refresh token of a profile cannot be used. `reason`: a clause, without a full stop. */
export function refreshFailed(reason: string, cause?: unknown): Problem {
  return new Problem('SERVICE_UNAVAILABLE', reason, { retryAfter: 1, cause });
}
