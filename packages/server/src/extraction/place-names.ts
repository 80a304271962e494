import { cut } from './cut-text.ts';

/** Bounds of the texts that are copied into the locator of every chunk of a part of a document. */
export const placeLimits = {
  /** Characters of a heading or of the name of a sheet or attachment. */
  name: 500,
  /** Headings above a chunk. */
  headings: 10,
  /** Characters of the name of a cell. */
  cell: 32,
} as const;

/** Cuts a heading or name to the length that a locator holds. The last character of a cut name is an ellipsis. */
export function cutName(name: string): string {
  return name.length <= placeLimits.name ? name : `${cut(name, placeLimits.name - 1)}…`;
}

/** Returns the warning about cut names, if there are any. `what` is a plural. */
export function warnOfCutNames(count: number, what: string): string[] {
  if (count === 0) return [];
  return [`names_cut: ${count} ${what} have more than ${placeLimits.name} characters; locators hold their beginning.`];
}
