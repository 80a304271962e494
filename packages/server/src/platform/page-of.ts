import type { ListQuery } from '@quartermaster/contract';
import { listEnvelope } from './envelope.ts';
import type { IdKind } from './identifier.ts';
import { checkCursor } from './list-cursors.ts';

interface Listed<Item, Wire> {
  /** The kind of the ids, for the check of the cursors. */
  readonly kind: IdKind;
  readonly toWire: (item: Item) => Wire;
}

/** Returns one page of a short list that is in memory, sorted by id, in the list envelope. */
export function pageOf<Item extends { readonly id: string }, Wire>(
  items: readonly Item[],
  query: ListQuery,
  { kind, toWire }: Listed<Item, Wire>,
) {
  const { limit = 20, order = 'desc', after, before, count = false } = checkCursor(query, kind);
  const follows = (id: string, other: string) => (order === 'asc' ? id > other : id < other);
  const part = (order === 'asc' ? items : items.toReversed()).filter(
    ({ id }) => (after === undefined || follows(id, after)) && (before === undefined || follows(before, id)),
  );
  const page = before === undefined ? part.slice(0, limit) : part.slice(-limit);
  const total = count ? { total: { count: items.length, isExact: true } } : {};
  return listEnvelope({ items: page.map(toWire), hasMore: page.length < part.length, ...total });
}
