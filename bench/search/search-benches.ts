import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { withCheckout } from '../compare.ts';
import { queryBenches } from '../query-benches.ts';
import type { Row } from '../table.ts';
import { addingCostRow } from './adding-cost.ts';
import { filterRows } from './filter-rows.ts';
import { manyCollectionsRow } from './many-collections.ts';
import { postgresRows } from './postgres-rows.ts';
import { parseSearchOptions, type SearchOptions } from './search-options.ts';
import { type ComparedCheckout, sizeRows } from './size-rows.ts';

/** Chunks of the measurement of filters when no size is chosen. */
const defaultFilterSize = 100_000;

/** The measurements besides those of the sizes. */
const others: Readonly<Record<string, (folder: string, sizes: readonly number[]) => Promise<Row[]>>> = {
  adding: async () => [addingCostRow()],
  collections: async (folder) => [await manyCollectionsRow(join(folder, 'collections'))],
  hybrid: (folder) => queryBenches(join(folder, 'hybrid'), 'query-vectors'),
  filters: (folder, sizes) => filterRows(folder, sizes.length === 0 ? [defaultFilterSize] : sizes),
  postgres: (folder) => postgresRows(join(folder, 'postgres')),
};

/**
 * Measures the search index: questions by words over several sizes and numbers of connections, beside another
 * commit; the cost of additions; many collections; hybrid questions; PostgreSQL.
 */
export async function searchBenches(folder: string, args: readonly string[]): Promise<Row[]> {
  const options = parseSearchOptions(args);
  mkdirSync(folder, { recursive: true });
  const { commit } = options;
  if (commit === undefined) return await measure(folder, options);
  return await withCheckout(commit, folder, (root) => measure(folder, options, { commit, root }));
}

async function measure(folder: string, options: SearchOptions, compared?: ComparedCheckout): Promise<Row[]> {
  const rows: Row[] = [];
  const began = performance.now();
  const add = (row: Row) => {
    rows.push(row);
    const at = ((performance.now() - began) / 1000).toFixed(0);
    console.error(`${at} s: ${row.bench}: ${row.ours}; ${row.floor}; ${row.bar}`);
  };
  for (const size of options.sizes) for await (const row of sizeRows(folder, size, compared)) add(row);
  for (const name of findOthers(options)) {
    const measureOther = others[name]; // it has this name
    for (const row of (await measureOther?.(folder, options.filterSizes)) ?? []) add(row);
  }
  return rows;
}

function findOthers({ only }: SearchOptions): readonly string[] {
  const names = Object.keys(others);
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`--only knows ${names.join(', ')}, not ${unknown}.`);
  return only ?? names;
}
