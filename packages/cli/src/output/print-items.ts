import { type Command, InvalidArgumentError } from 'commander';
import { printFields, printJson, printTable } from './print.ts';

/** The options of every list. */
export interface ListOptions {
  readonly json?: true;
  readonly limit: number;
}

interface CountedPage {
  readonly total_count?: number;
  readonly total_count_is_exact?: boolean;
}

/** A list of the client. */
type List<Item> = AsyncIterable<Item> & PromiseLike<object>;

interface Table<Item> {
  readonly heads: readonly string[];
  readonly row: (item: Item) => readonly string[];
  /** Whether the service can count the list. Default: yes. */
  readonly isCounted?: false;
}

/** The largest `--limit`. */
export const mostItems = 10_000;
const mostItemsOfPage = 100;

/**
 * Prints the first items of a list: as JSON lines while they arrive, or as one table.
 * @param open opens the list; a longer one is opened again for the number of its items
 */
export async function printList<Item>(
  { json, limit }: ListOptions,
  open: (page: { limit: number; count?: boolean }) => List<Item>,
  table: Table<Item>,
): Promise<void> {
  const rows: (readonly string[])[] = [];
  let count = 0;
  // One item further than the limit tells whether there are more.
  for await (const item of open({ limit: Math.min(mostItemsOfPage, limit + 1) })) {
    if (count === limit) {
      if (json !== true) printTable(table.heads, rows);
      const all = table.isCounted === false ? '' : describeCount(await open({ limit: 1, count: true }));
      console.error(`There are more. ${all}Use --limit to see more than ${limit}.`);
      return;
    }
    count += 1;
    if (json === true) printJson(item);
    else rows.push(table.row(item));
  }
  if (json !== true) printTable(table.heads, rows);
}

function describeCount({ total_count: count, total_count_is_exact: isExact }: CountedPage): string {
  if (count === undefined) return '';
  return `The list has ${isExact === true ? '' : 'at least '}${count} items. `;
}

/** Prints one object: as JSON, or as lines of names and values. */
export function printItem(item: object, json: true | undefined): void {
  if (json === true) printJson(item);
  else printFields(item);
}

/** Adds these options to a command. @param items what it lists */
export function withPages(command: Command, items: string): Command {
  return command.option('--limit <number>', `list at most this many ${items}`, readLimit, 20);
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
