import type { ListQuery } from '@quartermaster/contract';
import { listEnvelope } from './envelope.ts';
import { formerAccountPrefix, type IdKind, idLength, idPrefixes, isId } from './identifier.ts';
import { cursorsConflict } from './problem.ts';
import { quoteText } from './quote-text.ts';
import { fieldInvalid } from './validation/validation-error.ts';

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

/**
 * Checks the form of the cursors of a list that is ordered by id. A cursor is a position in that order, because ids sort by
 * the time of creation. Its object may have been deleted since, so a client can delete what it has read and continue.
 * @throws REQUEST_VALIDATION_ERROR for a text that is not an id of this kind
 */
export function checkCursors<Query extends ListQuery>(query: Query, kind: IdKind): Query {
  for (const name of ['after', 'before'] as const) checkCursorForm(query[name], kind, `query/${name}`);
  return query;
}

/** Checks the cursors of a list that takes only one of them. @throws REQUEST_VALIDATION_ERROR as `checkCursors` does */
export function checkCursor<Query extends ListQuery>(query: Query, kind: IdKind): Query {
  if (query.after !== undefined && query.before !== undefined) throw cursorsConflict();
  return checkCursors(query, kind);
}

/** Checks the form of one cursor, if it was sent. @throws REQUEST_VALIDATION_ERROR as `checkCursors` does */
export function checkCursorForm(cursor: string | undefined, kind: IdKind, path: string): void {
  const isFormer = kind === 'account' && cursor?.startsWith(formerAccountPrefix);
  if (cursor === undefined || (isId(cursor) && (isFormer || cursor.startsWith(idPrefixes[kind])))) return;
  throw fieldInvalid(path, quoteText(cursor), `an id of ${idLength} characters that starts with "${idPrefixes[kind]}"`);
}
