import { Problem } from '../kernel/problem.ts';
import { metaKeys } from './meta-keys.ts';

/** The credentials in `_meta` are not an object of names and values. */
export function credentialsMetaInvalid(): Problem {
  return new Problem(
    'REQUEST_VALIDATION_ERROR',
    `_meta/${metaKeys.credentials} must be an object; received another type.`,
  );
}
