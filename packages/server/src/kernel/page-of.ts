import type { ListQuery } from '@quartermaster/contract';
import { listEnvelope } from './envelope.ts';
import { cursorsConflict, objectNotFound } from './problem.ts';

interface Listed<Item, Wire> {
  /** The kind of the items, for the error of an unknown cursor. */
  readonly kind: string;
  readonly toWire: (item: Item) => Wire;
}

/** Returns one page of a short list that is in memory, oldest first, in the list envelope. */
export function pageOf<Item extends { readonly id: string }, Wire>(
  items: readonly Item[],
  query: ListQuery,
  { kind, toWire }: Listed<Item, Wire>,
) {
  const { limit = 20, order = 'desc', after, before, count = false } = query;
  if (after !== undefined && before !== undefined) throw cursorsConflict();
  const ordered = order === 'asc' ? items : items.toReversed();
  const cursor = after ?? before;
  const at = cursor === undefined ? -1 : ordered.findIndex(({ id }) => id === cursor);
  if (cursor !== undefined && at < 0) throw objectNotFound(kind, cursor);
  const part = before === undefined ? ordered.slice(at + 1) : ordered.slice(0, at);
  const page = before === undefined ? part.slice(0, limit) : part.slice(-limit);
  const total = count ? { total: { count: items.length, isExact: true } } : {};
  return listEnvelope({ items: page.map(toWire), hasMore: page.length < part.length, ...total });
}
