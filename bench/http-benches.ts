import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Pool } from 'undici';
import { type Measured, requestBytes, runLoad } from './load.ts';
import {
  loopDelay,
  peakMemory,
  type Running,
  resetPeakMemory,
  type Service,
  start,
  startService,
} from './processes.ts';
import type { Row } from './table.ts';

const json = { 'Content-Type': 'application/json' };
const seconds = 2;
const rounds = 5;

/** Measures the plugins address and, as the floor, routes of the same framework that do nothing else. */
export async function httpBenches(folder: string): Promise<Row[]> {
  await mkdir(folder, { recursive: true });
  const upstream = await start('bench/upstream-server.ts', 1);
  const service = await startService(folder, {
    QUARTERMASTER_EGRESS_OVERRIDES: JSON.stringify({ 'https://v6.exchangerate-api.com': upstream.urls[0] }),
  });
  const running: Running[] = [upstream, service];
  try {
    const rows: Row[] = [];
    for (const path of ['/v1/bundles', '/v1/plugins']) rows.push(await listBench(service, folder, path));
    const bare = await start('bench/bare-server.ts', 1, { environment: { BENCH_UPSTREAM: upstream.urls[0] ?? '' } });
    running.push(bare);
    for (const connections of [1, 32]) rows.push(await handlerBench({ service, bare, tier: 'T1' }, connections));
    for (const connections of [1, 32]) rows.push(await declarativeBench({ service, bare, upstream, connections }));
    const strict = await startService(join(folder, 'sandboxed'), { QUARTERMASTER_ISOLATION: 'sandbox' });
    running.push(strict);
    for (const connections of [1, 32])
      rows.push(await handlerBench({ service: strict, bare, tier: 'T2' }, connections));
    return rows;
  } finally {
    for (const one of running.reverse()) await one.stop();
  }
}

/**
 * Alternates the service and the floor, so that other load on the machine affects both. Returns the round with the
 * median ratio.
 */
export async function compare(
  ours: () => Promise<Measured>,
  floor: () => Promise<Measured>,
): Promise<[Measured, Measured]> {
  const pairs: Array<[Measured, Measured]> = [];
  for (let round = 0; round < rounds; round++) {
    const below = await floor();
    pairs.push([await ours(), below]);
  }
  const ratio = ([one, below]: [Measured, Measured]) => one.perSecond / below.perSecond;
  pairs.sort((x, y) => ratio(x) - ratio(y));
  return pairs[Math.floor(rounds / 2)] as [Measured, Measured]; // there is at least one round
}

export async function watched<T>(
  service: Service,
  work: () => Promise<T>,
): Promise<[T, { loopP99: number; peakMb: number }]> {
  await loopDelay(service);
  resetPeakMemory(service.pid);
  const result = await work();
  return [result, { loopP99: await loopDelay(service), peakMb: peakMemory(service.pid) }];
}

async function listBench(service: Service, folder: string, path: string): Promise<Row> {
  const file = join(folder, 'list.json');
  await writeFile(file, Buffer.from(await (await fetch(service.pluginsUrl + path)).arrayBuffer()));
  const bare = await start('bench/bare-server.ts', 1, { environment: { BENCH_BYTES: file } });
  const [[ours, floor], load] = await watched(service, () =>
    compare(
      () => runLoad({ url: service.pluginsUrl, request: requestBytes('GET', path), connections: 32, seconds }),
      () => runLoad({ url: bare.urls[0] ?? '', request: requestBytes('GET', '/bytes'), connections: 32, seconds }),
    ),
  );
  await bare.stop();
  const share = ours.perSecond / floor.perSecond;
  return {
    bench: `GET ${path}, 32 connections`,
    ours: describe(ours),
    floor: `bare route, same bytes: ${describe(floor)}`,
    bar: `${share.toFixed(2)} of the floor; no failures`,
    met: ours.failures === 0,
    ...load,
  };
}

export interface HandlerBench {
  readonly service: Service;
  readonly bare: Running;
}

/** Measures the service and the bare route with the same body. */
export async function measureHandler(
  { service, bare }: HandlerBench,
  connections: number,
): Promise<[Measured, Measured]> {
  const body = JSON.stringify({
    bundle_id: 'arithmetic',
    plugin_id: 'add',
    input_params: { number_1: 1, number_2: 2 },
    credentials: {},
  });
  return await compare(
    () => runLoad({ url: service.pluginsUrl, request: post('/v1/execute', body), connections, seconds }),
    () => runLoad({ url: bare.urls[0] ?? '', request: post('/validated', body), connections, seconds }),
  );
}

async function handlerBench(
  { tier, ...sides }: HandlerBench & { tier: 'T1' | 'T2' },
  connections: number,
): Promise<Row> {
  const [[ours, floor], load] = await watched(sides.service, () => measureHandler(sides, connections));
  return executeRow({ name: `execute ${tier} arithmetic`, ours, floor, connections, load, limitMs: 0.4 });
}

interface DeclarativeBench {
  readonly service: Service;
  readonly bare: Running;
  readonly upstream: Running;
  readonly connections: number;
}

async function declarativeBench({ service, bare, upstream, connections }: DeclarativeBench): Promise<Row> {
  const body = JSON.stringify({
    bundle_id: 'exchangerate_api',
    plugin_id: 'get_exchange_rate',
    input_params: { from_currency: 'USD', to_currency: 'CNY' },
    credentials: { EXCHANGERATE_API_API_KEY: 'bench-key-0123456789' },
  });
  const [[ours, floor], load] = await watched(service, () =>
    compare(
      () => runLoad({ url: service.pluginsUrl, request: post('/v1/execute', body), connections, seconds }),
      () => runLoad({ url: bare.urls[0] ?? '', request: post('/proxied', body), connections, seconds }),
    ),
  );
  const direct = await directCalls(upstream.urls[0] ?? '', connections);
  const row = executeRow({ name: 'execute T0, local upstream', ours, floor, connections, load, limitMs: 0.5 });
  const above = ours.p50 - direct;
  const bar = connections === 1 ? `; ≤ 0.5 ms above the direct call (${direct.toFixed(2)}): ${above.toFixed(2)}` : '';
  return { ...row, bar: row.bar + bar, met: row.met && (connections > 1 || above <= 0.5) };
}

/** Makes the same upstream call directly with undici from this process. Returns the median in milliseconds. */
async function directCalls(url: string, connections: number): Promise<number> {
  const pool = new Pool(url, { connections });
  const times: number[] = [];
  const end = performance.now() + 2000;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      for (let now = performance.now(); now < end; now = performance.now()) {
        const answer = await pool.request({ method: 'GET', path: '/v6/key/pair/USD/CNY' });
        await answer.body.json();
        times.push(performance.now() - now);
      }
    }),
  );
  await pool.close();
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}

interface Compared {
  readonly name: string;
  readonly ours: Measured;
  readonly floor: Measured;
  readonly connections: number;
  readonly load: { loopP99: number; peakMb: number };
  readonly limitMs: number;
}

function executeRow({ name, ours, floor, connections, load, limitMs }: Compared): Row {
  const above = ours.p50 - floor.p50;
  const share = ours.perSecond / floor.perSecond;
  const single = connections === 1;
  return {
    bench: `${name}, ${connections} connection${single ? '' : 's'}`,
    ours: describe(ours),
    floor: describe(floor),
    bar: single ? `p50 ≤ ${limitMs} ms above: ${above.toFixed(2)}` : `${share.toFixed(2)} of the rate; no failures`,
    met: ours.failures === 0 && (!single || above <= limitMs),
    ...load,
  };
}

function post(path: string, body: string): Buffer {
  return requestBytes('POST', path, { headers: json, body });
}

export function describe(one: Measured): string {
  const failed = one.failures > 0 ? `, ${one.failures} FAILED` : '';
  return `${one.perSecond.toFixed(0)}/s, p50 ${one.p50.toFixed(2)} ms, p99 ${one.p99.toFixed(2)} ms${failed}`;
}
