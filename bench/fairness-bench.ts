import { execFile } from 'node:child_process';
import { openAsBlob } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Quartermaster } from '@quartermaster/client';
import { connectClient, settledRecord } from '../test/support/client.ts';
import { startService } from './processes.ts';
import { csv } from './sheets.ts';
import type { Row } from './table.ts';

const bars = { waitMs: 2_000 };
const loads = { imports: 3, pairs: 100_000, texts: 2_000 };

/**
 * Measures how long a small record of one project waits while another project has much work.
 * `QUARTERMASTER_DATABASE_URL` selects PostgreSQL.
 */
export async function fairnessBenches(folder: string): Promise<Row[]> {
  await mkdir(folder, { recursive: true });
  const database = process.env.QUARTERMASTER_DATABASE_URL;
  const service = await startService(join(folder, 'data'), {
    QUARTERMASTER_LOG_LEVEL: 'warn',
    ...(database === undefined ? {} : { QUARTERMASTER_DATABASE_URL: database }),
  });
  try {
    const busy = connectClient(service, service.key);
    const other = connectClient(service, await addProject(join(folder, 'data')));
    const place = (await other.collections.create({ name: 'other', type: 'text' })).collection_id;
    const wait = () => waitForSmall(other, place);
    await wait();
    const sheet = join(folder, 'pairs.csv');
    await writeFile(sheet, csv(loads.pairs));
    return [
      await measure('1 import', await startImports(busy, sheet, 1), wait),
      await measure(`${loads.imports} imports`, await startImports(busy, sheet, loads.imports), wait),
      await measure(`${loads.texts} text records`, await startTexts(busy), wait),
    ];
  } finally {
    await service.stop();
  }
}

/** Creates a project and returns a key of it. */
async function addProject(data: string): Promise<string> {
  const command = async (...args: string[]) => {
    const env = { ...process.env, QUARTERMASTER_DATA: data };
    const { stdout } = await promisify(execFile)(process.execPath, ['packages/cli/src/main.ts', ...args], { env });
    return stdout.trim();
  };
  return command('key', 'create', await command('project', 'create', 'other'), '--name', 'bench');
}

/** Returns the milliseconds from the request that creates the record until it is ready. */
async function waitForSmall(client: Quartermaster, collection: string): Promise<number> {
  const began = performance.now();
  const { record_id: id } = await client.records.create(collection, { type: 'text', content: 'A small record.' });
  const { status } = await settledRecord(client, collection, id);
  if (status !== 'ready') throw new Error(`the small record is ${status}`);
  return performance.now() - began;
}

/** Work that was started. `ended` resolves when all of it is done. */
interface Started {
  readonly ended: Promise<unknown>;
}

async function startImports(client: Quartermaster, sheet: string, count: number): Promise<Started> {
  const ends: Promise<unknown>[] = [];
  for (let n = 0; n < count; n++) {
    const content = await openAsBlob(sheet);
    const { file_id } = await client.files.upload(content, { purpose: 'qa_record_file', name: `${n}.csv` });
    const { collection_id } = await client.collections.create({ name: `import ${n}`, type: 'qa' });
    const { record_id } = await client.records.create(collection_id, { type: 'qa_sheet', file_id });
    ends.push(settledRecord(client, collection_id, record_id));
  }
  return { ended: Promise.all(ends) };
}

async function startTexts(client: Quartermaster): Promise<Started> {
  const { collection_id: collection } = await client.collections.create({ name: 'texts', type: 'text' });
  const ids: string[] = [];
  const rest = Array.from({ length: loads.texts }, (_, n) => n);
  const post = async () => {
    for (let n = rest.pop(); n !== undefined; n = rest.pop()) {
      ids.push(
        (await client.records.create(collection, { type: 'text', content: `Text ${n}. `.repeat(20) })).record_id,
      );
    }
  };
  await Promise.all([post(), post(), post(), post()]);
  return { ended: settledRecord(client, collection, ids.at(-1) ?? '') };
}

/** Creates small records one after another until the load has ended. */
async function measure(bench: string, { ended }: Started, wait: () => Promise<number>): Promise<Row> {
  const began = performance.now();
  let over = false;
  const watched = ended.finally(() => {
    over = true;
  });
  const waits: number[] = [];
  while (!over) waits.push(await wait());
  await watched;
  waits.sort((a, b) => a - b);
  const longest = waits.at(-1) ?? Number.NaN;
  const median = waits[waits.length >> 1] ?? Number.NaN;
  return {
    bench: `small record of another project beside ${bench}`,
    ours: `longest ${longest.toFixed(0)} ms, median ${median.toFixed(0)} ms, ${waits.length} records`,
    floor: `the load took ${((performance.now() - began) / 1000).toFixed(1)} s; load ${loadavg()[0]?.toFixed(1)}`,
    bar: `longest ≤ ${bars.waitMs} ms`,
    met: longest <= bars.waitMs,
  };
}
