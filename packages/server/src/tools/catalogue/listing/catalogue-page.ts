import type { bundleOperations } from '@quartermaster/contract/operations';
import type { Static } from 'typebox';
import { type CachedJson, createJsonCache } from '../../../platform/json/json-cache.ts';
import { cursorsConflict, objectNotFound } from '../../../platform/problem.ts';
import { fieldInvalid } from '../../../platform/validation/validation-error.ts';
import type { CompiledBundle, CompiledPlugin } from '../catalogue.ts';
import { listOf } from './list-of.ts';

/** What cuts a list of the catalogue into pages. */
type PageQuery = Pick<Static<typeof bundleOperations.listBundles.querystring>, 'q' | 'limit' | 'after' | 'before'>;

/** Whether a query asks for a page. Other queries get the whole list, which is cached. */
export function wantsPage({ q, limit, after, before }: PageQuery): boolean {
  return [q, limit, after, before].some((value) => value !== undefined);
}

/** @throws Problem for a question without words, like the schema for an empty one */
export function checkQuestion(q: string | undefined): void {
  if (q?.trim() === '') throw fieldInvalid('query/q', 'only spaces', 'a task in words');
}

interface PageOptions<Item> {
  readonly kind: string;
  readonly idOf: (item: Item) => string;
  readonly describe: (item: Item) => unknown;
}

/**
 * Builds one page in slices. It is not cached, because questions come from callers. A cursor is a position in the order of
 * ids. Answers to a question are sorted by their rank, so there a cursor has a place only while its item is listed.
 * @throws Problem for a cursor that is not in the answer to a question
 */
export async function buildPage<Item>(
  items: readonly Item[],
  { q, limit = 20, after, before }: Omit<PageQuery, 'q'> & { readonly q: string | undefined },
  { kind, idOf, describe }: PageOptions<Item>,
): Promise<CachedJson> {
  if (after !== undefined && before !== undefined) throw cursorsConflict();
  const cursor = after ?? before ?? '';
  const isReached = (id: string) => (q === undefined ? id >= cursor : id === cursor);
  const found = cursor === '' ? 0 : items.findIndex((item) => isReached(idOf(item)));
  if (found < 0 && q !== undefined) throw objectNotFound(kind, cursor);
  const at = found < 0 ? items.length : found;
  const isListed = items[at] !== undefined && idOf(items[at]) === cursor;
  const part = before === undefined ? items.slice(isListed ? at + 1 : at) : items.slice(0, at);
  const page = before === undefined ? part.slice(0, limit) : part.slice(-limit);
  return await createJsonCache().get('page', () => listOf(page, describe, { has_more: page.length < part.length }));
}

/** The bundles of plugins that were found, in the order of their best plugins. */
export function bundlesOf(plugins: readonly CompiledPlugin[]): CompiledBundle[] {
  return [...new Set(plugins.map(({ bundle }) => bundle))];
}

export function pluginIdOf({ bundle, id }: CompiledPlugin): string {
  return `${bundle.id}/${id}`;
}
