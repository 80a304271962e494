import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { definitionFormats } from '@quartermaster/contract';
import { type Idle, loopDelay, measureIdle, residentMemory, type Service, start, startService } from './processes.ts';
import type { Row } from './table.ts';

const wanted = 1_000;
const formats = ['json_schema', ...definitionFormats] as const;
const bars = { startMs: 1_500, kibPerPlugin: 50, listMs: 10 };
/** Milliseconds after which an idle service has released the memory that its start needed. */
const settle = () => pause(8_000);

/**
 * Measures a catalogue with a thousand additional plugins, copied from our bundles: start, memory, lists in every
 * format, 304.
 */
export async function catalogueBenches(folder: string): Promise<Row[]> {
  const bundles = join(folder, 'bundles');
  const plugins = await multiplyBundles(bundles);
  const bare = await measureIdle(join(folder, 'bare'), {}, settle);
  const settings = { QUARTERMASTER_BUNDLES: bundles };
  const data = join(folder, 'data');
  const first = await measureIdle(data, settings, settle);
  const again = await measureIdle(data, settings, settle);
  const service = await startService(data, settings);
  try {
    // Resets the count, so that the garbage collection of the start does not count for the lists.
    await loopDelay(service);
    const lists = await measureLists(service, folder);
    return [startRow({ plugins, bare, first, again, memory: measureMemory(bundles) }), ...lists];
  } finally {
    await service.stop();
  }
}

interface Memory {
  /** KiB of heap and buffers for each plugin: `loaded` after the start, `listed` after every list was requested. */
  readonly loaded: number;
  readonly listed: number;
}

/**
 * Measures in a separate process that collects its garbage, because the resident memory of a service includes the
 * garbage of its start.
 */
function measureMemory(bundles: string): Memory {
  const program = ['--expose-gc', 'bench/catalogue-memory.ts', bundles];
  return JSON.parse(execFileSync(process.execPath, program, { encoding: 'utf8' })) as Memory; // the format that the program prints
}

function startRow(measured: { plugins: number; bare: Idle; first: Idle; again: Idle; memory: Memory }): Row {
  const { plugins, bare, first, again, memory } = measured;
  return {
    bench: `start with ${plugins} plugins more`,
    ours: `ready after ${again.readyMs.toFixed(0)} ms (the first time ${first.readyMs.toFixed(0)}), ${memory.loaded.toFixed(1)} KiB a plugin, ${memory.listed.toFixed(1)} with all lists`,
    floor: `without them: ${bare.readyMs.toFixed(0)} ms, ${bare.idleMb.toFixed(0)} MiB`,
    bar: `≤ ${bars.startMs} ms; ≤ ${bars.kibPerPlugin} KiB`,
    met: again.readyMs <= bars.startMs && memory.listed <= bars.kibPerPlugin,
    loopP99: again.loopP99,
    peakMb: Math.max(first.idleMb, again.idleMb),
  };
}

async function measureLists(service: Service, folder: string): Promise<Row[]> {
  const rows: Row[] = [];
  const file = join(folder, 'list.json');
  for (const format of formats) {
    const url = `${service.pluginsUrl}/v1/plugins?format=${format}`;
    const { etag, body } = await list(url);
    await writeFile(file, body);
    const bare = await start('bench/bare-server.ts', 1, { environment: { BENCH_BYTES: file } });
    // Alternates the two measurements, so that other load on the machine affects both.
    const [warm, floor] = await measureAlternately(
      () => list(url),
      () => list(`${bare.urls[0]}/bytes`),
    );
    await bare.stop();
    const [unchanged] = await measureAlternately(async () => {
      const response = await fetch(url, { headers: { 'If-None-Match': etag } });
      assert.equal(response.status, 304);
      await response.arrayBuffer();
    });
    rows.push({
      bench: `GET /v1/plugins?format=${format}`,
      ours: `${describe(warm)}, ${(body.byteLength / 2 ** 20).toFixed(1)} MiB; 304: ${describe(unchanged)}`,
      floor: `bare route, same bytes: ${describe(floor)}`,
      bar: `p50 ≤ ${bars.listMs} ms; 304 on the same ETag`,
      met: warm.p50 <= bars.listMs && unchanged.p50 <= bars.listMs,
      loopP99: await loopDelay(service),
      peakMb: residentMemory(service.pid),
    });
  }
  return rows;
}

async function list(url: string): Promise<{ etag: string; body: Buffer }> {
  const response = await fetch(url);
  assert.equal(response.status, 200);
  return { etag: response.headers.get('etag') ?? '', body: Buffer.from(await response.arrayBuffer()) };
}

interface Times {
  readonly p50: number;
  readonly p99: number;
}

async function measureAlternately(...runs: ReadonlyArray<() => Promise<unknown>>): Promise<[Times, Times]> {
  const took = runs.map(() => [] as number[]);
  for (let round = 0; round < 100; round++) {
    for (const [index, run] of runs.entries()) {
      const began = performance.now();
      await run();
      took[index]?.push(performance.now() - began);
    }
  }
  const [first = [], second = []] = took.map((times) => times.sort((a, b) => a - b));
  return [percentiles(first), percentiles(second)];
}

function percentiles(sorted: readonly number[]): Times {
  return { p50: sorted[50] ?? Number.NaN, p99: sorted[98] ?? Number.NaN };
}

function describe({ p50, p99 }: Times): string {
  return `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`;
}

/** Copies the bundles that ship with the product under other ids. Returns the number of their plugins. */
export async function multiplyBundles(folder: string): Promise<number> {
  await mkdir(folder, { recursive: true });
  const own = await readdir('bundles');
  let plugins = 0;
  for (let round = 1; plugins < wanted; round++) {
    for (const id of own) {
      if (plugins >= wanted) break;
      const copy = join(folder, `${id}_${round}`);
      await cp(join('bundles', id), copy, { recursive: true, filter: (path) => !path.includes('/fixtures') });
      const manifest = join(copy, 'bundle.yaml');
      await writeFile(manifest, (await readFile(manifest, 'utf8')).replace(/^id: .*$/m, `id: ${id}_${round}`));
      plugins += (await readdir(copy)).filter((name) => name.endsWith('.yaml')).length - 1;
    }
  }
  return plugins;
}
