// Runs in a network namespace that has only a loopback interface. It starts the service and keeps 50 executions per
// second going while it installs a bundle, updates it and removes it. It prints the results as one JSON object.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { startCommand } from '../../scripts/start-command.ts';

const [folder = '', publisher = '', first = '', second = ''] = process.argv.slice(2);
const upstream = await openUpstream();
const environment = {
  PATH: process.env.PATH ?? '',
  HOME: folder,
  QUARTERMASTER_DATA: join(folder, 'data'),
  QUARTERMASTER_FILES_PORT: '0',
  QUARTERMASTER_PLUGINS_PORT: '0',
  QUARTERMASTER_DRAIN_SECONDS: '0',
  QUARTERMASTER_EGRESS_OVERRIDES: JSON.stringify({ 'https://gate.example': upstream.url }),
};

const command = startCommand();
const service = spawn(process.execPath, [...command.args], {
  stdio: ['ignore', 'pipe', 'inherit'],
  env: { ...command.environment, ...environment },
});
const url = await pluginsUrl();
const load = startLoad();

await pause(1_000);
await quartermaster('trust', publisher);
await install(first);
await until(async () => (await versionInForce()) === '1.0.0');
load.targets.push(greet);
const held = upstream.next();
const longRun = execute('held', 'wait');
await held;
await install(second);
await until(async () => (await versionInForce()) === '2.0.0');
const answerOfNew = await (await greet()).json();
upstream.open();
const answerOfOld = await (await longRun).json();
await pause(1_000);
load.targets.pop();
await load.idle();
await quartermaster('remove', 'held');
await until(async () => (await versionInForce()) === undefined);
await pause(500);
const { statuses, failures } = await load.end();
service.kill('SIGTERM');
const [exitCode] = await once(service, 'exit');
upstream.close();
console.log(JSON.stringify({ statuses, failures, answerOfNew, answerOfOld, exitCode, outside: await reachOutside() }));

function startLoad() {
  const targets: Array<() => Promise<Response>> = [sum];
  const statuses: Record<string, number> = {};
  const failures: string[] = [];
  const running = new Set<Promise<void>>();
  let count = 0;
  const note = (status: string) => {
    statuses[status] = (statuses[status] ?? 0) + 1;
  };
  async function ask(target: () => Promise<Response>): Promise<void> {
    try {
      const response = await target();
      const text = await response.text();
      note(String(response.status));
      if (response.status !== 200) failures.push(text);
    } catch (error) {
      note('no answer');
      failures.push(String(error));
    }
  }
  const timer = setInterval(() => {
    const target = targets[count++ % targets.length] ?? sum;
    const request: Promise<void> = ask(target).then(() => void running.delete(request));
    running.add(request);
  }, 20);
  const idle = async () => void (await Promise.all(running));
  return {
    targets,
    idle,
    end: async () => {
      clearInterval(timer);
      await idle();
      return { statuses, failures };
    },
  };
}

function sum(): Promise<Response> {
  return execute('arithmetic', 'add', { number_1: 1, number_2: 2 });
}

function greet(): Promise<Response> {
  return execute('held', 'greet');
}

async function execute(bundle_id: string, plugin_id: string, input_params = {}): Promise<Response> {
  return await fetch(`${url}/v1/execute`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ bundle_id, plugin_id, input_params, credentials: {} }),
  });
}

async function versionInForce(): Promise<string | undefined> {
  const { data } = (await (await fetch(`${url}/v1/bundles`)).json()) as {
    data: { bundle_id: string; version: string }[];
  };
  return data.find(({ bundle_id }) => bundle_id === 'held')?.version;
}

async function install(archive: string): Promise<void> {
  const { digest } = JSON.parse(await quartermaster('add', archive, '--json'));
  await quartermaster('add', archive, '--digest', digest);
}

async function quartermaster(...args: string[]): Promise<string> {
  const main = resolve('packages/cli/src/main.ts');
  const child = spawn(process.execPath, [main, 'bundle', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: environment,
  });
  const exit = once(child, 'exit');
  const output = await text(child.stdout);
  const [code] = await exit;
  if (code !== 0) throw new Error(`bundle ${args.join(' ')} ended with ${code}`);
  return output;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 30_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`${condition} did not come true`);
    await pause(50);
  }
}

async function pluginsUrl(): Promise<string> {
  for await (const line of createInterface({ input: service.stdout })) {
    const found = /plugins address +(http:\S+)/.exec(line)?.[1];
    if (found !== undefined) return found;
  }
  throw new Error('the service did not start');
}

/** Opens an upstream that answers on request. */
async function openUpstream() {
  const requested = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const server = createServer(async (_request, response) => {
    requested.resolve();
    await opened.promise;
    response.setHeader('content-type', 'text/plain').end('open');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    url: `http://127.0.0.1:${port}`,
    next: () => requested.promise,
    open: opened.resolve,
    close: () => server.close(),
  };
}

/** Returns the result of a connection to the outside (TEST-NET-1, which is unassigned). */
async function reachOutside(): Promise<string> {
  const socket = connect({ host: '192.0.2.1', port: 443, timeout: 5_000 });
  const { promise, resolve: report } = Promise.withResolvers<string>();
  socket.on('error', (error: NodeJS.ErrnoException) => report(error.code ?? 'unknown'));
  socket.on('timeout', () => report('timeout'));
  socket.on('connect', () => report('connected'));
  const outcome = await promise;
  socket.destroy();
  return outcome;
}
