import { Type } from 'typebox';
import { withoutNulls } from './read-fields.ts';

/** The router returns 404 for longer parts of a path. */
const maxPathIdLength = 256;

/** A value without the shape of an id gives OBJECT_NOT_FOUND, not a validation error. */
export const pathId = Type.String({ maxLength: maxPathIdLength, description: 'Id.' });

/** A `preValidation` hook: an explicit null at the top level of a body means absent. */
export async function dropNulls(request: { body: unknown }): Promise<void> {
  request.body = withoutNulls(request.body);
}
