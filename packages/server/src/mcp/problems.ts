import { Problem } from '../kernel/problem.ts';
import { metaKeys } from './meta-keys.ts';

export function credentialsMetaInvalid(): Problem {
  return new Problem('REQUEST_VALIDATION_ERROR', `_meta/${metaKeys.credentials}: expected an object.`);
}
