import { Problem } from '../../platform/problem.ts';
import { quoteText } from '../../platform/quote-text.ts';
import { fieldInvalid } from '../../platform/validation/validation-error.ts';

/** The operator has not set an encryption key. */
export function encryptionNotConfigured(): Problem {
  return new Problem(
    'NOT_CONFIGURED',
    'Credential profiles need an encryption key. Set QUARTERMASTER_SEALING_KEY or QUARTERMASTER_SEALING_KEY_FILE.',
  );
}

export function profileNotFound(name: string): Problem {
  return new Problem(
    'OBJECT_NOT_FOUND',
    `No credential profile named ${quoteText(name)} exists in this project. GET /v1/credential_profiles lists them.`,
  );
}

export function profileNameTaken(name: string): Problem {
  const update = `To replace its credentials, use POST /v1/credential_profiles/${name}`;
  return new Problem('DUPLICATE_OBJECT', `A credential profile named ${quoteText(name)} already exists. ${update}.`);
}

export function tooManyProfiles(most: number): Problem {
  return new Problem(
    'RESOURCE_LIMIT_REACHED',
    `The project has ${most} credential profiles, which is the maximum. Delete some and retry.`,
    { retryAfter: 60 },
  );
}

/** Another request replaced the credentials at the same time. */
export function profileBusy(name: string): Problem {
  return new Problem(
    'DUPLICATE_OBJECT',
    `The credential profile ${quoteText(name)} was modified concurrently. Retry the request.`,
  );
}

/** `credentials.$profile` does not name a usable profile. */
export function profileReferenceInvalid(found: string, expected: string): Problem {
  return fieldInvalid('body/credentials/$profile', found, expected);
}

/** `profile rotate` encrypted the profile with a new key after this process started. */
export function profileKeyMissing(name: string, keyId: string): Problem {
  return new Problem(
    'SERVICE_UNAVAILABLE',
    `The credentials of the profile ${quoteText(name)} are encrypted with the key ${keyId}, which this process does not have. Restart it with that key in QUARTERMASTER_SEALING_KEY, QUARTERMASTER_SEALING_KEY_FILE or the file "encryption-key" of its data folder.`,
    { retryAfter: 60, isFault: true },
  );
}

/** The stored text was encrypted with another key or for another row, or was changed. */
export function profileUnreadable(name: string): Problem {
  const remedy = `Send its credentials again with POST /v1/credential_profiles/${name}`;
  return new Problem(
    'INTERNAL_SERVER_ERROR',
    `The credential profile ${quoteText(name)} cannot be decrypted: the stored data was changed. ${remedy}.`,
  );
}

/**
 * The refresh token of a profile cannot be used.
 * @param reason a clause and what the caller can do, without the last full stop
 */
export function refreshFailed(name: string, reason: string, cause?: unknown): Problem {
  const message = `The credential profile ${quoteText(name)} cannot be used: ${reason}.`;
  return new Problem('SERVICE_UNAVAILABLE', message, { retryAfter: 1, cause });
}
