import { createHash } from 'node:crypto';

/** The maximum number of tools of a chosen bundle or toolset that are listed. Models choose badly among more. */
export const maxListedTools = 100;
/** The maximum number of tools of one page of `tools/list`. Some clients read only the first page. */
export const toolsPerPage = 200;

/** A page of the names of a list. */
export interface NamePage {
  readonly names: readonly string[];
  /** The cursor of the next page; undefined on the last one. */
  readonly next: string | undefined;
}

/**
 * Cuts a page. A cursor is a position and a digest of the list, so that it is unknown once the list has changed.
 * @returns undefined when the cursor is not one of this list
 */
export function cutPage(names: readonly string[], cursor: string | undefined): NamePage | undefined {
  const isShort = names.length <= toolsPerPage;
  if (isShort) return cursor === undefined ? { names, next: undefined } : undefined;
  const digest = createHash('sha256').update(names.join('\n')).digest('base64url').slice(0, 12);
  const start = cursor === undefined ? 0 : positionOf(cursor, digest);
  if (start === undefined || start >= names.length) return undefined;
  const end = start + toolsPerPage;
  return { names: names.slice(start, end), next: end < names.length ? `${digest}.${end}` : undefined };
}

function positionOf(cursor: string, digest: string): number | undefined {
  const [, sent, digits] = /^([\w-]{12})\.(\d{1,9})$/.exec(cursor) ?? [];
  const position = Number(digits);
  return sent === digest && position > 0 && position % toolsPerPage === 0 ? position : undefined;
}
