// `npm run bench -- node-kills` kills one of four nodes again and again while clients use all of them. Each client repeats a failed
// request once, at the next node. It also measures how long the runs and records of the killed node wait.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { openRig, type Rig } from '../proof/scale/rig.ts';
import { startStorage } from '../proof/scale/storage.ts';
import { createEndings } from '../proof/support/endings.ts';
import { openProbe, type Probe } from '../test/support/probe-bundle.ts';
import { temporaryFolder } from '../test/support/service.ts';
import { printTable } from './table.ts';

const serves = ['both', 'both', 'both', 'both'] as const;
const clients = 8;
const heldRuns = 4;
const records = 8;

/** @param args the number of kills */
export async function measureNodeKills([kills = '6']: readonly string[]): Promise<void> {
  const endings = createEndings();
  try {
    const probe = await openProbe(endings);
    const { BUNDLES = '', EGRESS_OVERRIDES = '', PLUGIN_SECONDS = '' } = probe.settings;
    const rig = await openRig(endings, {
      folder: await temporaryFolder(endings),
      serves,
      storage: (await startStorage(endings)).variables,
      upstream: Object.values(JSON.parse(EGRESS_OVERRIDES) as Record<string, string>)[0] ?? '',
      settings: { BUNDLES, LOG_LEVEL: 'warn', PLUGIN_SECONDS },
      loopback: true,
    });
    const load = startLoad(rig);
    const rows = [['kill', 'runs continue after', 'records ready after', 'requests', 'repeated', 'longest', 'failed']];
    for (let kill = 1; kill <= Number(kills); kill++) {
      const { runs, records: ready } = await killOne(rig, probe, kill);
      const { requests, repeated, longestMs, failed } = load.counts;
      const seconds = [runs, ready].map((ms) => `${(ms / 1000).toFixed(1)} s`);
      rows.push([
        ...[String(kill), ...seconds, String(requests), String(repeated)],
        ...[`${(longestMs / 1000).toFixed(1)} s`, String(failed.length)],
      ]);
      console.error(rows.at(-1)?.join('  '));
    }
    await load.end();
    for (const line of load.counts.failed) console.error(line);
    printTable(rows);
    if (load.counts.failed.length > 0) process.exitCode = 1;
  } finally {
    await endings.end();
  }
}

/** Kills a node that executes runs and creates the chunks of records. Starts it again after others have continued both. */
async function killOne(rig: Rig, probe: Probe, kill: number) {
  const node = rig.nodes[kill % rig.nodes.length]!; // the remainder is a place of it
  const client = new pg.Client(rig.database.url());
  // The end of the rig disconnects it.
  client.on('error', () => {});
  await client.connect();
  const held = Array.from({ length: heldRuns }, (_, n) => `held${kill}-${n}`);
  const startedAtLeast = (times: number) => held.every((q) => probe.count(`/read?q=${q}`) >= times);
  for (const q of held) {
    probe.hold(`/read?q=${q}`);
    const json = { bundle_id: 'probe', plugin_id: 'read', input_params: { q }, credentials: {} };
    await post(`${node.target.pluginsUrl}/v1/execute`, rig.key, json, { Prefer: 'respond-async' });
  }
  while (!startedAtLeast(1)) await pause(20);
  const { client: api } = node.service();
  const { collection_id: id } = await api.collections.create({ name: `tea ${kill}` });
  const content = 'The otter likes green tea. '.repeat(2_000);
  const creations = Array.from({ length: records }, (_, n) =>
    api.records.create(id, { type: 'text', title: `Tea ${n}`, content }),
  );
  const count = async (condition: string) =>
    Number(
      (await client.query(`select count(*) from record where collection_id = $1 and ${condition}`, [id])).rows[0].count,
    );
  await Promise.all(creations);
  while ((await count('lease_owner is not null')) === 0 && (await count("status <> 'ready'")) > 0) await pause(2);
  await node.service().kill();
  const killedAt = performance.now();
  const continued = async (isDone: () => Promise<boolean>) => {
    while (!(await isDone())) await pause(50);
    return performance.now() - killedAt;
  };
  const [runs, ready] = await Promise.all([
    continued(async () => startedAtLeast(2)),
    continued(async () => (await count("status = 'ready'")) === records),
  ]);
  probe.release();
  await client.end();
  await node.start();
  return { runs, records: ready };
}

async function post(url: string, key: string, json: unknown, more: Readonly<Record<string, string>> = {}) {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...more };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(json) });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return await answer.json();
}

/** Uploads, downloads, executions and lists at nodes in turn, until the end. */
function startLoad({ nodes, key }: Rig) {
  const counts = { requests: 0, repeated: 0, longestMs: 0, failed: [] as string[] };
  let isOver = false;
  async function request(address: 'filesUrl' | 'pluginsUrl', path: string, create: () => RequestInit) {
    const place = ++counts.requests;
    const began = performance.now();
    const reasons: string[] = [];
    for (const isLast of [false, true]) {
      const { target, name } = nodes[(place + Number(isLast)) % nodes.length]!; // the remainder is a place of it
      const init = create();
      const headers = { Authorization: `Bearer ${key}`, ...init.headers };
      try {
        const answer = await fetch(target[address] + path, { ...init, headers });
        const body = Buffer.from(await answer.arrayBuffer());
        if (answer.ok) {
          counts.longestMs = Math.max(counts.longestMs, performance.now() - began);
          return body;
        }
        reasons.push(`${name}: ${answer.status} ${body}`);
      } catch (error) {
        reasons.push(`${name}: ${(error as Error & { cause?: Error }).cause?.message ?? error}`);
      }
      if (!isLast) counts.repeated += 1;
    }
    counts.failed.push(`${path}: ${reasons.join('; then ')}`.slice(0, 600));
    return undefined;
  }
  async function work(): Promise<void> {
    while (!isOver) {
      const text = `tea ${randomUUID()}`;
      const upload = randomUUID();
      const stored = await request('filesUrl', '/v1/files', () => {
        const body = new FormData();
        body.set('purpose', 'record_file');
        body.set('file', new Blob([text]), 'tea.txt');
        return { method: 'POST', body, headers: { 'Idempotency-Key': upload } };
      });
      const id = stored === undefined ? undefined : JSON.parse(stored.toString()).data.file_id;
      if (id !== undefined) {
        const found = await request('filesUrl', `/v1/files/${id}/content`, () => ({}));
        if (found !== undefined && String(found) !== text) counts.failed.push(`${id}: other bytes than were uploaded`);
      }
      const [execution, q] = [randomUUID(), randomUUID()];
      await request('pluginsUrl', '/v1/execute', () => ({
        method: 'POST',
        headers: { 'Idempotency-Key': execution, 'Content-Type': 'application/json' },
        body: JSON.stringify({ bundle_id: 'probe', plugin_id: 'read', input_params: { q }, credentials: {} }),
      }));
      await request('pluginsUrl', '/v1/bundles', () => ({}));
    }
  }
  const over = Promise.all(Array.from({ length: clients }, work));
  return {
    counts,
    async end() {
      isOver = true;
      await over;
    },
  };
}
