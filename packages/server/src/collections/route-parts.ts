import { Type } from 'typebox';
import type { Page } from './page.ts';
import { withoutNulls } from './read-fields.ts';

/** What does not have the shape of an id is no object's id: OBJECT_NOT_FOUND, not a complaint about the path. */
export const pathId = Type.String({ description: 'Id.' });

/** A `preValidation` hook: an explicit null at the top level of a body means absent. */
export async function dropNulls(request: { body: unknown }): Promise<void> {
  request.body = withoutNulls(request.body);
}

/** The list envelope around a page. */
export function listAnswer<Item>({ items, hasMore }: Page<Item>) {
  const status = 'success' as const;
  return { status, data: [...items], fetched_count: items.length, has_more: hasMore };
}
