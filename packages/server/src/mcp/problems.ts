import { Problem } from '../kernel/problem.ts';
import { metaKeys } from './meta-keys.ts';

/** Credentials in `_meta` are names with values. */
export function credentialsMetaInvalid(): Problem {
  return new Problem('REQUEST_VALIDATION_ERROR', `_meta/${metaKeys.credentials}: expected an object.`);
}
