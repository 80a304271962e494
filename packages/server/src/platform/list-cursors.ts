import type { ListQuery } from '@quartermaster/contract';
import { type IdKind, idLength, idPrefixes, isId } from './identifier.ts';
import { cursorsConflict } from './problem.ts';
import { quoteText } from './quote-text.ts';
import { fieldInvalid } from './validation/validation-error.ts';

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
  if (cursor === undefined || (isId(cursor) && cursor.startsWith(idPrefixes[kind]))) return;
  throw fieldInvalid(path, quoteText(cursor), `an id of ${idLength} characters that starts with "${idPrefixes[kind]}"`);
}
