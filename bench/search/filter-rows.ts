import { loadavg } from 'node:os';
import { join } from 'node:path';
import { connectClient } from '../../test/support/client.ts';
import { type Service, startService } from '../processes.ts';
import type { Row } from '../table.ts';
import { describeFigures } from './search-engine.ts';
import { searchSheets } from './search-texts.ts';
import { askService, importSheet, untilMerged } from './searched-service.ts';

/** Each value of the metadata belongs to one of this many groups of records. */
const groups = 100;
/** Chunks of one record at most, so that the chunks of a group are scattered. */
const mostRows = 1000;
/** The size with a target, and the largest p50 in milliseconds. */
const target = { size: 1_000_000, p50: 20 };

/** Measures questions with filters that one of a hundred chunks meets. */
export async function filterRows(folder: string, sizes: readonly number[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const size of sizes) {
    const data = join(folder, `filters-${size}`);
    const service = await startService(data, { QUARTERMASTER_LOG_LEVEL: 'warn' });
    try {
      rows.push(...(await measureFilters(service, { data, size })));
    } finally {
      await service.stop();
    }
  }
  return rows;
}

async function measureFilters(service: Service, { data, size }: { data: string; size: number }): Promise<Row[]> {
  const { collection, records } = await importRecords(service, size);
  await untilMerged(data);
  const filters: Readonly<Record<string, object | undefined>> = {
    'no filter': undefined,
    equality: { type: 'eq', key: 'group', value: 'g7' },
    'ids of records': { type: 'in', field: 'record_id', value: records },
    comparison: { type: 'gte', key: 'number', value: groups - 1 },
    negation: { type: 'ne', key: 'isLast', value: 'no' },
  };
  const rows: Row[] = [];
  for (const [name, filter] of Object.entries(filters)) {
    const ask = (seconds: number) => askService(service, [collection], { connections: 1, seconds, filter });
    await ask(2); // fills the caches
    const figures = await ask(4);
    const hasTarget = size === target.size && filter !== undefined;
    rows.push({
      bench: `search, ${size} chunks, ${name}${filter === undefined ? '' : ', 1 % of the chunks'}`,
      ours: describeFigures(figures),
      floor: `load ${loadavg()[0]?.toFixed(1)}`,
      bar: hasTarget ? `p50 ≤ ${target.p50} ms` : '–',
      met: !hasTarget || figures.p50 <= target.p50,
    });
  }
  return rows;
}

/** @returns the collection, and records with one of a hundred chunks */
async function importRecords(service: Service, size: number) {
  const client = connectClient(service, service.key);
  const { collection_id: collection } = await client.collections.create({ name: 'filtered', type: 'qa' });
  const records: string[] = [];
  let place = 0;
  for (const { csv, rows } of searchSheets(size, Math.min(mostRows, size / groups))) {
    const group = place++ % groups;
    const metadata = { group: `g${group}`, number: String(group), isLast: group === groups - 1 ? 'yes' : 'no' };
    const record = await importSheet(service, { collection, csv, rows, metadata });
    if (group === 7) records.push(record);
  }
  return { collection, records };
}
