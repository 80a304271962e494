import { objectNotFound, Problem } from '../../platform/problem.ts';
import { fieldInvalid } from '../../platform/validation/validation-error.ts';
import { metaKeys } from './meta-keys.ts';

/** The credentials in `_meta` are not an object of names and values. */
export function credentialsMetaInvalid(): Problem {
  return new Problem(
    'REQUEST_VALIDATION_ERROR',
    `_meta/${metaKeys.credentials} must be an object; received another type.`,
  );
}

/** The id is not one of a chunk or record that the caller may read. */
export function passageNotFound(id: string): Problem {
  return objectNotFound('passage or document', id);
}

/** The cursor is not one of a previous page of `resources/list`. */
export function pageNotFound(cursor: string): Problem {
  return objectNotFound('page of resources', cursor);
}

/** The cursor is not one of a previous answer to the same question. */
export function cursorUnknown(): Problem {
  return fieldInvalid('arguments/cursor', 'another text', 'the `next_cursor` of an answer to the same question');
}
