import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { writeImportedCatalogue } from './imported-catalogue.ts';
import { type Idle, loopDelay, measureIdle, residentMemory, type Service, startService } from './processes.ts';
import type { Row } from './table.ts';

const plugins = 3_500;
const bars = { readyMs: 3_000, idleMb: 250, firstRunMs: 50, loopMs: 50 };
const settleMs = 5_000;
const runs = 20;

/**
 * Measures 3,500 imported plugins: start, memory, the first run of a plugin, and how long lists hold the event loop.
 */
export async function importedBenches(folder: string): Promise<Row[]> {
  const bundles = join(folder, 'bundles');
  await writeImportedCatalogue(bundles, plugins);
  const data = join(folder, 'data');
  const settings = { QUARTERMASTER_BUNDLES: bundles, QUARTERMASTER_LOG_LEVEL: 'error' };
  const first = await measureIdle(data, settings, settleUntilLoaded);
  const again = await measureIdle(data, settings, () => pause(settleMs));
  const service = await startService(data, settings);
  try {
    await pause(settleMs);
    const runRow = await measureFirstRuns(service);
    const lists: Row[] = [];
    for (const [name, ask] of Object.entries(listRequests(service))) lists.push(await measureList(service, name, ask));
    return [startRow('first', first), startRow('later', again), runRow, ...lists];
  } finally {
    await service.stop();
  }
}

/** Waits until all bundles are loaded. A thread reads imported bundles after the first start. */
async function settleUntilLoaded({ pluginsUrl }: Service): Promise<void> {
  for (;;) {
    const { data } = (await (await fetch(`${pluginsUrl}/v1/bundles`)).json()) as { data: Array<{ bundle_id: string }> };
    if (data.filter(({ bundle_id }) => bundle_id.startsWith('imported_')).length >= plugins / 100) break;
    await pause(500);
  }
  await pause(settleMs);
}

function startRow(which: string, { readyMs, idleMb, loopP99 }: Idle): Row {
  return {
    bench: `${which} start, ${plugins} imported plugins`,
    ours: `ready after ${readyMs.toFixed(0)} ms, idle ${idleMb.toFixed(0)} MiB`,
    floor: '-',
    bar: `≤ ${bars.readyMs} ms; ≤ ${bars.idleMb} MiB`,
    met: readyMs <= bars.readyMs && idleMb <= bars.idleMb,
    loopP99,
    peakMb: idleMb,
  };
}

/**
 * Measures first runs. The host has no address, so a run ends after its input is validated and its request is built.
 */
async function measureFirstRuns(service: Service): Promise<Row> {
  const run = async (plugin: number) => {
    const began = performance.now();
    const response = await fetch(`${service.pluginsUrl}/v1/execute`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${service.key}` },
      body: JSON.stringify({
        bundle_id: 'imported_7',
        plugin_id: `operation_${plugin}`,
        input_params: { part_0: 'x' },
        credentials: {},
      }),
    });
    assert.equal(response.status, 502, await response.text());
    return performance.now() - began;
  };
  await run(99);
  const differences: number[] = [];
  for (let plugin = 0; plugin < runs; plugin++) differences.push((await run(plugin)) - (await run(plugin)));
  const slower = differences.sort((a, b) => a - b)[runs / 2] ?? Number.NaN;
  return {
    bench: 'first run of an imported plugin',
    ours: `${slower.toFixed(1)} ms slower than the second (median of ${runs})`,
    floor: '-',
    bar: `≤ ${bars.firstRunMs} ms`,
    met: slower <= bars.firstRunMs,
    loopP99: await loopDelay(service),
    peakMb: residentMemory(service.pid),
  };
}

function listRequests({ pluginsUrl, key }: Service): Record<string, () => Promise<Response>> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const accept = 'application/json, text/event-stream';
  const list = (version: string | undefined, params: object) => () =>
    fetch(`${pluginsUrl}/mcp?tools=all`, {
      method: 'POST',
      headers: { ...headers, Accept: accept, ...(version === undefined ? {} : { 'MCP-Protocol-Version': version }) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params }),
    });
  return {
    'GET /v1/bundles': () => fetch(`${pluginsUrl}/v1/bundles`, { headers }),
    'GET /v1/plugins': () => fetch(`${pluginsUrl}/v1/plugins`, { headers }),
    'tools/list, plain': list('2025-11-25', {}),
    'tools/list, with progress': list('2025-11-25', { _meta: { progressToken: 1 } }),
    'tools/list, no version': list(undefined, {}),
  };
}

/** Returns the longest delay of the event loop while a list is built and sent, and while it is sent twice more. */
async function measureList(service: Service, name: string, ask: () => Promise<Response>): Promise<Row> {
  await longestDelay(service);
  let bytes = 0;
  const began = performance.now();
  for (let time = 0; time < 3; time++) {
    const response = await ask();
    assert.equal(response.status, 200);
    bytes = (await response.arrayBuffer()).byteLength;
  }
  const took = performance.now() - began;
  const loopMs = await longestDelay(service);
  return {
    bench: `${name}, ${plugins} plugins`,
    ours: `${(bytes / 2 ** 20).toFixed(1)} MiB three times in ${took.toFixed(0)} ms, loop at most ${loopMs.toFixed(0)} ms`,
    floor: '-',
    bar: `loop ≤ ${bars.loopMs} ms`,
    met: loopMs <= bars.loopMs,
    loopP99: loopMs,
    peakMb: residentMemory(service.pid),
  };
}

/** Returns the longest delay of the event loop since the last call, in milliseconds. */
async function longestDelay({ filesUrl, key }: Service): Promise<number> {
  const response = await fetch(`${filesUrl}/metrics`, { headers: { Authorization: `Bearer ${key}` } });
  const line = /^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(await response.text());
  // The figure is the time between two measurements, which includes their interval of 10 ms.
  return Math.max(0, Number(line?.[1]) * 1000 - 10);
}
