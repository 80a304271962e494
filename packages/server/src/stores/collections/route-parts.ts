import { withoutNulls } from './read-fields.ts';

/** A `preValidation` hook: an explicit null at the top level of a body means absent. */
export async function dropNulls(request: { body: unknown }): Promise<void> {
  request.body = withoutNulls(request.body);
}
