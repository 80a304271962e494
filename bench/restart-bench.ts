import assert from 'node:assert/strict';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, type Service, startService } from './processes.ts';
import { type Call, createRetryingClient, type RetryingClient } from './retrying-client.ts';
import type { Row } from './table.ts';

export interface RestartPlan {
  readonly folder: string;
  readonly restarts: number;
  /** Seconds after which no further restart begins. */
  readonly maxSeconds: number;
  /** `QUARTERMASTER_DRAIN_SECONDS` of the services; successive services use successive values. */
  readonly drainSeconds: readonly number[];
}

export interface RestartResult {
  readonly restarts: number;
  readonly requests: number;
  /** Requests that succeeded at their second attempt. */
  readonly retried: number;
  /** One line for each request whose second attempt failed too. */
  readonly failed: readonly string[];
  /** Exit codes other than 0. */
  readonly badExits: readonly (number | null)[];
  readonly uploads: number;
  /** Acknowledged uploads that the last service does not return byte for byte. */
  readonly lost: readonly string[];
  /** Files beyond one for each acknowledged upload. */
  readonly duplicates: number;
}

const clients = 8;
/** Bounds of the number of responses between the start of a service and its end. */
const leastAnswers = 40;
const mostAnswers = 200;

/** Stops and starts the service repeatedly under load. retrying-client.ts describes the clients. */
export async function restartUnderLoad({ folder, maxSeconds, ...plan }: RestartPlan): Promise<RestartResult> {
  const ports = { QUARTERMASTER_FILES_PORT: await freePort(), QUARTERMASTER_PLUGINS_PORT: await freePort() };
  const startNext = (round: number) =>
    startService(folder, {
      ...ports,
      QUARTERMASTER_DRAIN_SECONDS: String(plan.drainSeconds[round % plan.drainSeconds.length]),
    });
  let service = await startNext(0);
  const load = startLoad(service);
  const badExits: Array<number | null> = [];
  const last = performance.now() + maxSeconds * 1000;
  let restarts = 0;
  try {
    for (; restarts < plan.restarts && performance.now() < last; restarts++) {
      await load.answered(randomInt(leastAnswers, mostAnswers));
      const code = await service.stop();
      if (code !== 0) badExits.push(code);
      service = await startNext(restarts + 1);
    }
    await load.answered(leastAnswers);
    await load.end();
    const { requests, retried, failed, uploads } = load;
    const { lost, duplicates } = await compareFiles(service, uploads);
    return {
      ...{ restarts, requests: requests(), retried: retried(), failed, badExits },
      ...{ uploads: uploads.size, lost, duplicates },
    };
  } finally {
    await load.end();
    await service.stop();
  }
}

function startLoad({ filesUrl, pluginsUrl, key }: Service) {
  const uploads = new Map<string, string>();
  const failed: string[] = [];
  let [requests, retried, ended] = [0, 0, false];
  const headers = { Authorization: `Bearer ${key}` };

  async function send(client: RetryingClient, call: Call): Promise<Buffer | null> {
    const outcome = await client.send(call);
    requests += 1;
    if (outcome.ok) retried += outcome.retried ? 1 : 0;
    else failed.push(`${call.method} ${new URL(call.url).pathname}: ${outcome.reasons.join('; then ')}`);
    return outcome.ok ? outcome.body : null;
  }

  async function upload(client: RetryingClient): Promise<void> {
    const content = randomBytes(randomInt(1, 128 * 1024)).toString('hex');
    const form = new FormData();
    form.append('purpose', 'record_file');
    form.append('file', new Blob([content]), 'notes.txt');
    const encoded = new Response(form);
    const type = encoded.headers.get('content-type') ?? '';
    const answer = await send(client, {
      ...{ method: 'POST', url: `${filesUrl}/v1/files`, body: Buffer.from(await encoded.arrayBuffer()) },
      headers: { ...headers, 'Content-Type': type, 'Idempotency-Key': randomBytes(12).toString('hex') },
    });
    if (answer !== null) uploads.set(JSON.parse(answer.toString()).data.file_id, sha256(content));
  }

  async function download(client: RetryingClient): Promise<void> {
    const [id, hash] = [...uploads].at(-1) ?? [];
    if (id === undefined) return;
    const bytes = await send(client, { method: 'GET', url: `${filesUrl}/v1/files/${id}/content`, headers });
    if (bytes !== null && sha256(bytes) !== hash) failed.push(`GET ${id}: other bytes than were uploaded`);
  }

  async function execute(client: RetryingClient): Promise<void> {
    const number = randomInt(1_000_000);
    const input = { expression: `${number}+1` };
    const call = { bundle_id: 'calculator', plugin_id: 'evaluate', input_params: input, credentials: {} };
    const answer = await send(client, {
      ...{ method: 'POST', url: `${pluginsUrl}/v1/execute`, body: Buffer.from(JSON.stringify(call)) },
      headers: {
        ...{ ...headers, 'Content-Type': 'application/json' },
        'Idempotency-Key': randomBytes(12).toString('hex'),
      },
    });
    const value = answer === null ? number + 1 : JSON.parse(answer.toString()).data.data.value;
    if (value !== number + 1) failed.push(`POST /v1/execute: ${value} for ${number}+1`);
  }

  async function run(): Promise<void> {
    const client = createRetryingClient();
    while (!ended) {
      await upload(client);
      await download(client);
      await execute(client);
      await send(client, { method: 'GET', url: `${pluginsUrl}/v1/bundles`, headers });
    }
    client.close();
  }

  const over = Promise.all(Array.from({ length: clients }, run));
  return {
    uploads,
    failed,
    requests: () => requests,
    retried: () => retried,
    async answered(count: number): Promise<void> {
      const until = requests + count;
      while (requests < until) await Promise.race([pause(5), over]);
    },
    async end(): Promise<void> {
      ended = true;
      await over;
    },
  };
}

async function compareFiles({ filesUrl, key }: Service, uploads: ReadonlyMap<string, string>) {
  const headers = { Authorization: `Bearer ${key}` };
  const lost: string[] = [];
  for (const [id, hash] of uploads) {
    const answer = await fetch(`${filesUrl}/v1/files/${id}/content`, { headers });
    if (sha256(Buffer.from(await answer.arrayBuffer())) !== hash) lost.push(`${id}: ${answer.status}`);
  }
  let stored = 0;
  for (let after = '', more = true; more; ) {
    const answer = await fetch(`${filesUrl}/v1/files?limit=100${after}`, { headers });
    const page = (await answer.json()) as { data: Array<{ file_id: string }>; has_more: boolean };
    assert.equal(answer.status, 200);
    stored += page.data.length;
    [after, more] = [`&after=${page.data.at(-1)?.file_id}`, page.has_more];
  }
  return { lost, duplicates: stored - uploads.size };
}

const sha256 = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

/** `npm run bench -- restarts` takes minutes, so it runs only when it is named. */
export async function restartBench(folder: string, restarts = 50): Promise<Row> {
  const result = await restartUnderLoad({ folder, restarts, maxSeconds: 540, drainSeconds: [0, 1] });
  for (const line of [...result.failed, ...result.lost]) console.error(line);
  const { failed, lost, badExits, duplicates } = result;
  console.log(
    'Each request is sent at most twice; a retry that finds no listener waits until the service accepts again.',
  );
  return {
    bench: `${result.restarts} restarts, ${clients} clients that honour Connection: close and retry once`,
    ours: `${result.requests} requests, ${result.retried} retried, ${failed.length} failed; of ${result.uploads} uploads ${lost.length} lost, ${duplicates} twice; ${badExits.length} bad exits`,
    floor: '',
    bar: `${restarts} restarts, 0 failed, lost or twice`,
    met: result.restarts === restarts && failed.length + lost.length + badExits.length + duplicates === 0,
  };
}
