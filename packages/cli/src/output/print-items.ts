import { InvalidArgumentError } from 'commander';
import { printFields, printJson, printTable } from './print.ts';

/** How a list is printed. */
export interface ListOutput<Item> {
  readonly json: true | undefined;
  /** The number of items that are printed. */
  readonly limit: number;
  readonly heads: readonly string[];
  readonly row: (item: Item) => readonly string[];
  /** Reads the number of all items, if the list is longer than the limit. */
  readonly count?: () => PromiseLike<CountedPage>;
}

interface CountedPage {
  readonly total_count?: number;
  readonly total_count_is_exact?: boolean;
}

/** The largest `--limit`. */
export const mostItems = 10_000;
const mostItemsOfPage = 100;

/** Prints the first items of a list: as JSON lines while they arrive, or as one table. */
export async function printItems<Item>(items: AsyncIterable<Item>, output: ListOutput<Item>): Promise<void> {
  const rows: (readonly string[])[] = [];
  let count = 0;
  for await (const item of items) {
    if (count === output.limit) {
      if (output.json !== true) printTable(output.heads, rows);
      const all = describeCount(await output.count?.());
      console.error(`There are more. ${all}Use --limit to see more than ${output.limit}.`);
      return;
    }
    count += 1;
    if (output.json === true) printJson(item);
    else rows.push(output.row(item));
  }
  if (output.json !== true) printTable(output.heads, rows);
}

function describeCount({ total_count: count, total_count_is_exact: isExact }: CountedPage = {}): string {
  if (count === undefined) return '';
  return `The list has ${isExact === true ? '' : 'at least '}${count} items. `;
}

/** Returns the size of the pages of a list that is read up to a limit, and one item further. */
export function pageSize(limit: number): number {
  return Math.min(mostItemsOfPage, limit + 1);
}

/** Prints one object: as JSON, or as lines of names and values. */
export function printItem(item: object, json: true | undefined): void {
  if (json === true) printJson(item);
  else printFields(item);
}

/** Parses `--limit`. */
export function readLimit(text: string): number {
  const limit = Number(text);
  if (!/^\d+$/.test(text) || limit < 1 || limit > mostItems)
    throw new InvalidArgumentError(`The value must be a whole number from 1 to ${mostItems}.`);
  return limit;
}

/** Parses a time limit in seconds; 0: none. */
export function readSeconds(text: string): number {
  const seconds = Number(text);
  if (!/^\d+$/.test(text) || seconds > 86_400)
    throw new InvalidArgumentError('The value must be a whole number of seconds from 0 to 86400.');
  return seconds;
}
