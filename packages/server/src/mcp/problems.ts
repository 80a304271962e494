import { Problem } from '../kernel/problem.ts';
import { metaKeys } from './meta-keys.ts';

/** The text may hold a credential, so nothing of it is repeated. */
export function credentialsHeaderInvalid(): Problem {
  return new Problem(
    'INVALID_REQUEST',
    'headers/x-plugin-credentials: expected a JSON object, encoded as base64url without line breaks.',
  );
}

export function credentialsMetaInvalid(): Problem {
  return new Problem('REQUEST_VALIDATION_ERROR', `_meta/${metaKeys.credentials}: expected an object.`);
}
