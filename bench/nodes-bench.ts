// `npm run bench -- nodes` measures 1, 2 and 4 nodes on one PostgreSQL database and one S3 server. Each node has a part of a processor,
// and each answer of PostgreSQL arrives 5 ms later. It needs root and the control groups of Linux (version 1 or 2).
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { createEncryptionKey } from '../packages/server/src/access/credential-profiles/encryption.ts';
import { createApiKey } from '../packages/server/src/access/projects/api-key.ts';
import { startStorage } from '../proof/scale/storage.ts';
import { createEndings, type Endings, mapWithConcurrency } from '../proof/support/endings.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { type StartedService, startService, temporaryFolder } from '../test/support/service.ts';
import { startTcpProxy } from '../test/support/tcp-proxy.ts';
import { requestBytes, runLoad } from './load.ts';
import { start } from './processes.ts';
import { printTable } from './table.ts';
import { smallUpload } from './upload-client.ts';

const delayMs = 5;
const connectionsOfNode = 24;
const warmUpSeconds = 2;
const collectionsOfRecords = 8;
/** For each node. */
const recordsOfSecond = 8;
/** Questions search these records, and those of the warm-up. */
const recordsAsked = 40;
const root = '/sys/fs/cgroup';
const isVersion2 = existsSync(join(root, 'cgroup.controllers'));

/** Other programs of the machine get what is left: their weight is 1,024 (version 1) or 100 (version 2). */
const weight = { 1: 102_400, 2: 10_000 };

/** A control group that limits and measures the processor time of its processes. */
function createGroup(name: string) {
  const folderOf = (controller: string) =>
    join(root, isVersion2 ? '' : controller, `quartermaster-bench-${process.pid}-${name}`);
  const [cpu, account] = [folderOf('cpu'), folderOf('cpuacct')];
  if (isVersion2) writeFileSync(join(root, 'cgroup.subtree_control'), '+cpu');
  const folders = [...new Set([cpu, account])];
  for (const folder of folders) mkdirSync(folder);
  const write = (file: string, value: number | string) => writeFileSync(join(cpu, file), String(value));
  write(isVersion2 ? 'cpu.weight' : 'cpu.shares', isVersion2 ? weight[2] : weight[1]);
  return {
    /** Moves this process into the group. What it starts from now on belongs to the group, too. */
    enter: () => moveTo(folders),
    /** @param share part of one processor */
    limit(share: number) {
      const [period, quota] = [20_000, Math.round(20_000 * share)];
      if (isVersion2) return write('cpu.max', `${quota} ${period}`);
      write('cpu.cfs_period_us', period);
      write('cpu.cfs_quota_us', quota);
    },
    /** Milliseconds of processor time so far. */
    used(): number {
      if (!isVersion2) return Number(readFileSync(join(account, 'cpuacct.usage'), 'utf8')) / 1e6;
      return Number(/usage_usec (\d+)/.exec(readFileSync(join(cpu, 'cpu.stat'), 'utf8'))?.[1]) / 1e3;
    },
    /** Removes the group and those that a service has created in it, once their processes have ended. */
    async remove() {
      for (const folder of folders) {
        const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
          entry.isDirectory(),
        );
        const nested = names
          .map(({ parentPath, name }) => join(parentPath, name))
          .sort()
          .reverse();
        for (const each of [...nested, folder]) await removeEmpty(each);
      }
    },
  };
}

function moveTo(folders: readonly string[]): void {
  for (const folder of folders) writeFileSync(join(folder, 'cgroup.procs'), String(process.pid));
}

/** The groups that this process started in. */
function groupsOfThisProcess(): readonly string[] {
  const lines = readFileSync('/proc/self/cgroup', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  return (isVersion2 ? [''] : ['cpu', 'cpuacct']).map((controller) => {
    const [, , path = ''] = lines.find(([, controllers = '']) => controllers.split(',').includes(controller)) ?? [];
    return join(root, controller, path);
  });
}

async function removeEmpty(folder: string): Promise<void> {
  for (let attempt = 0; existsSync(folder); attempt++) {
    try {
      rmdirSync(folder);
    } catch (error) {
      if (attempt === 100) throw error;
      await pause(100);
    }
  }
}

interface Figures {
  /** Operations a second. */
  readonly rate: number;
  /** Milliseconds of processor time for one operation: of the nodes, and of PostgreSQL. */
  readonly node: number;
  readonly database: number;
}

/** What the clients saw. */
interface Load {
  readonly rate: number;
  readonly operations: number;
}

/** Starts PostgreSQL in a control group of its own. */
async function startDatabase(endings: Endings, own: Group) {
  const group = createGroup('postgres');
  endings.after(() => group.remove());
  group.enter();
  const server = await startPostgres();
  own.enter();
  endings.after(() => server.stop());
  const proxy = await startTcpProxy(server.url);
  endings.after(() => proxy.close());
  return { server, group, proxy };
}

type Group = ReturnType<typeof createGroup>;

async function startNodes(count: number, own: Group, endings: Endings) {
  const { server, group, proxy } = await startDatabase(endings, own);
  const { variables } = await startStorage(endings);
  const upstream = await start('bench/upstream-server.ts', 1);
  endings.after(() => upstream.stop());
  const { QUARTERMASTER_BLOBS: blobs = '', ...aws } = variables;
  const key = createApiKey();
  const settings = {
    DATABASE_URL: proxy.url(server.url),
    BLOBS: blobs,
    FIRST_KEY: key,
    SEALING_KEY: createEncryptionKey(),
    PLUGINS_KEY: 'required',
    EGRESS_OVERRIDES: JSON.stringify({ 'https://v6.exchangerate-api.com': upstream.urls[0] }),
    EGRESS_ALLOW: '127.0.0.1',
  };
  const launcher = ['env', ...Object.entries(aws).map(([name, value]) => `${name}=${value}`)];
  const nodes: StartedService[] = [];
  const groups: Group[] = [];
  for (let index = 0; index < count; index++) {
    const limited = createGroup(`node${index}`);
    endings.after(() => limited.remove());
    const folder = await temporaryFolder(endings);
    // A given folder lets the call start the process at once.
    limited.enter();
    const starting = startService(endings, { folder, settings, key, launcher });
    own.enter();
    nodes.push(await starting);
    groups.push(limited);
  }
  /** Before it, the nodes start and warm up. */
  const limit = (share: number) => {
    for (const each of groups) each.limit(share);
    proxy.delay(delayMs);
  };
  const used = () => groups.reduce((sum, each) => sum + each.used(), 0);
  return { nodes, key, group, url: server.url, limit, used };
}

type Opened = Awaited<ReturnType<typeof startNodes>>;

/** Sends one request over and over to all nodes. */
async function loadRequests(nodes: Nodes, seconds: number, of: (node: StartedService) => OneRequest): Promise<Load> {
  const measured = await Promise.all(
    nodes.map((node) => runLoad({ ...of(node), connections: connectionsOfNode, seconds })),
  );
  const sum = (member: 'perSecond' | 'failures' | 'responses') => measured.reduce((all, each) => all + each[member], 0);
  if (sum('failures') > 0) throw new Error(`${sum('failures')} of ${sum('responses')} requests failed`);
  return { rate: sum('perSecond'), operations: sum('responses') };
}

type Nodes = readonly StartedService[];
type OneRequest = Pick<Parameters<typeof runLoad>[0], 'url' | 'request' | 'stamp'>;

/** Creates records at all nodes, in turn in each collection. Measures from the first request until the last record is ready. */
async function loadRecords({ nodes, url, key }: Opened, collections: readonly string[], count: number): Promise<Load> {
  const client = new pg.Client(url);
  await client.connect();
  const countReady = async () =>
    Number((await client.query("select count(*) from record where status = 'ready'")).rows[0].count);
  const first = await countReady();
  const began = performance.now();
  const step = nodes.length * connectionsOfNode;
  await mapWithConcurrency(Array.from({ length: count }), step, async (_, n) => {
    const { filesUrl } = nodes[n % nodes.length]!; // the remainder is a place of it
    const answer = await fetch(`${filesUrl}/v1/collections/${collections[n % collections.length]}/records`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ type: 'text', title: `Tea ${n}`, content: textOf(n) }),
    });
    if (!answer.ok) throw new Error(`record: ${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
  });
  while ((await countReady()) < first + count) await pause(100);
  const seconds = (performance.now() - began) / 1000;
  await client.end();
  return { rate: count / seconds, operations: count };
}

const words = ['green', 'tea', 'otter', 'river', 'kettle', 'steam', 'leaf', 'garden', 'morning', 'cup'];
const textOf = (n: number) => Array.from({ length: 120 }, (_, at) => words[(n * 7 + at * at) % words.length]).join(' ');

/** Returns the figures of each operation. */
async function measure(count: number, share: number, seconds: number): Promise<Record<string, Figures>> {
  const endings = createEndings();
  const figures: Record<string, Figures> = {};
  const home = groupsOfThisProcess();
  const own = createGroup('own');
  try {
    own.enter();
    const opened = await startNodes(count, own, endings);
    const operations = await prepareOperations(opened);
    for (const operation of Object.values(operations)) await operation(warmUpSeconds);
    opened.limit(share);
    for (const [name, operation] of Object.entries(operations)) {
      const before = [opened.used(), opened.group.used()];
      const { rate, operations: done } = await operation(seconds);
      const [node = 0, database = 0] = [opened.used(), opened.group.used()].map((ms, at) => (ms - before[at]!) / done);
      console.error(
        `${count} nodes: ${name}: ${rate.toFixed(1)}/s, ${node.toFixed(2)} ms of the nodes, ${database.toFixed(2)} ms of PostgreSQL`,
      );
      figures[name] = { rate, node, database };
    }
  } finally {
    await endings.end();
    moveTo(home);
    await own.remove();
  }
  return figures;
}

/** All clients work in one project. */
async function prepareOperations(opened: Opened): Promise<Record<string, (seconds: number) => Promise<Load>>> {
  const { key, nodes } = opened;
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const stamp = Buffer.from('0000000000000000');
  const upload = (node: StartedService) => {
    // The stamp and the id give each upload its own content.
    const content = Buffer.alloc(8 * 1024, `${stamp} ${randomUUID()} `);
    return { url: node.filesUrl, request: smallUpload(key, content), stamp };
  };
  const body = JSON.stringify({
    bundle_id: 'exchangerate_api',
    plugin_id: 'get_exchange_rate',
    input_params: { from_currency: 'USD', to_currency: 'CNY' },
    credentials: { EXCHANGERATE_API_API_KEY: 'bench-key-0123456789' },
  });
  const run = requestBytes('POST', '/v1/execute', { headers, body });
  const createCollection = async () => {
    const { collections } = nodes[0]!.client; // at least one node
    return (await collections.create({ name: `tea ${randomUUID()}` })).collection_id;
  };
  const [asked, ...written] = await Promise.all(Array.from({ length: 1 + collectionsOfRecords }, createCollection));
  await loadRecords(opened, [asked!], recordsAsked);
  const question = JSON.stringify({ query_text: 'green otter kettle', max_chunks: 5 });
  const ask = requestBytes('POST', `/v1/collections/${asked}/chunks/query`, { headers, body: question });
  const count = (seconds: number) => Math.ceil(nodes.length * seconds * recordsOfSecond);
  return {
    'upload of 8 KiB': (seconds) => loadRequests(nodes, seconds, upload),
    execution: (seconds) => loadRequests(nodes, seconds, (node) => ({ url: node.pluginsUrl, request: run })),
    question: (seconds) => loadRequests(nodes, seconds, (node) => ({ url: node.filesUrl, request: ask })),
    [`record, ${collectionsOfRecords} collections`]: (seconds) => loadRecords(opened, written, count(seconds)),
    'record, 1 collection': (seconds) => loadRecords(opened, written.slice(0, 1), count(seconds)),
  };
}

/** @param args the part of a processor of each node, the seconds of each measurement, and the repetitions */
export async function measureNodes([share = '0.1', seconds = '6', rounds = '1']: readonly string[]): Promise<void> {
  const heads = ['1 node', '2 nodes', '4 nodes', '2 : 1', '4 : 1', 'node ms, 1', '4', 'PostgreSQL ms, 1', '4', '4 : 1'];
  const rows = [['round', 'operation', ...heads]];
  for (let round = 1; round <= Number(rounds); round++) {
    const figures: Array<Record<string, Figures>> = [];
    for (const count of [1, 2, 4]) figures.push(await measure(count, Number(share), Number(seconds)));
    for (const name of Object.keys(figures[0] ?? {})) {
      const [one, two, four] = figures.map((of) => of[name]!) as [Figures, Figures, Figures]; // three counts, the same names
      const rates = [one, two, four].map(({ rate }) => `${rate.toFixed(1)}/s`);
      const ratios = [two, four].map(({ rate }) => times(rate / one.rate));
      const costs = [one.node, four.node, one.database, four.database].map((ms) => ms.toFixed(2));
      rows.push([String(round), name, ...rates, ...ratios, ...costs, times(four.database / one.database)]);
    }
  }
  printTable(rows);
}

const times = (ratio: number) => `${ratio.toFixed(2)} ×`;
