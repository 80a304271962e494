import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { settings } from '../packages/server/src/app/settings/settings.ts';
import { createMetrics } from '../packages/server/src/platform/metrics.ts';
import { findFreePorts } from './support/free-port.ts';
import { requireTools, toolsNamed } from './support/system-tools.ts';

const run = promisify(execFile);
const folder = 'deploy/scale';

interface ComposeService {
  readonly image: string;
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** Returns the names of all metrics: Node's, and those in the sources, some of which end with a placeholder. */
async function readMetricNames(): Promise<(name: string) => boolean> {
  const names = new Set(
    createMetrics()
      .getMetricsAsArray()
      .map(({ name }) => name),
  );
  const prefixes: string[] = [];
  for (const file of globSync('packages/server/src/**/*.ts')) {
    if (/\.(?:test|fixture)\.ts$/.test(file)) continue;
    const source = await readFile(file, 'utf8');
    for (const [, name = '', end] of source.matchAll(/['`](quartermaster_[a-z_]+)(['`]|\$\{)/g)) {
      if (end === '${') prefixes.push(name);
      else names.add(name);
    }
  }
  assert.ok(names.size > 80, `only ${names.size} metrics`);
  return (name) => {
    const base = name.replace(/_(?:bucket|sum|count)$/, '');
    return (
      names.has(name) || names.has(base) || prefixes.some((prefix) => prefix.length > 15 && name.startsWith(prefix))
    );
  };
}

test('every metric of the board and of the alert rules exists', async () => {
  const exists = await readMetricNames();
  assert.equal(exists('quartermaster_no_such_metric_total'), false);
  for (const file of ['grafana.json', 'alerts.yaml']) {
    const text = await readFile(`${folder}/${file}`, 'utf8');
    const used = new Set(text.match(/\b(?:quartermaster|process|nodejs)_[a-z0-9_]+/g));
    assert.ok(used.size >= 8, file);
    assert.deepEqual(
      [...used].filter((name) => !exists(name)),
      [],
      file,
    );
  }
});

test('Prometheus accepts the alert rules and its configuration, and each alert says what to do', async () => {
  requireTools(toolsNamed('prometheus'));
  await run('promtool', ['check', 'rules', `${folder}/alerts.yaml`]);
  await run('promtool', ['check', 'config', '--syntax-only', `${folder}/prometheus.yml`]);
  const { groups } = parse(await readFile(`${folder}/alerts.yaml`, 'utf8')) as {
    groups: ReadonlyArray<{ rules: ReadonlyArray<{ annotations: { summary?: string; action?: string } }> }>;
  };
  for (const { annotations } of groups.flatMap(({ rules }) => rules))
    assert.ok(annotations.summary && annotations.action);
});

test('the compose file has four equal nodes, no secrets, and ports on the loopback interface only', async () => {
  const text = await readFile(`${folder}/compose.yaml`, 'utf8');
  const { services } = parse(text, { merge: true }) as { services: Readonly<Record<string, ComposeService>> };
  const nodes = Object.keys(services).filter((name) => name.startsWith('node'));
  assert.equal(nodes.length, 4);
  const script = await readFile(`${folder}/prepare`, 'utf8');
  for (const [name, { environment = {}, ports = [], image }] of Object.entries(services)) {
    assert.ok(ports.every((port) => port.startsWith('127.0.0.1:')));
    assert.ok(image === 'quartermaster' || /:v?\d/.test(image), `${name} names no version`);
    for (const [variable, value] of Object.entries(environment)) {
      if (/PASSWORD|SECRET|KEY$|KEY_ID/.test(variable) && value !== 'required')
        assert.match(value, /^\$\{[A-Z0-9_]+:\?/);
      const [, setting] = /^QUARTERMASTER_(.*)/.exec(variable) ?? [];
      if (setting !== undefined && setting !== 'BLOBS') assert.ok(Object.hasOwn(settings, setting), variable);
    }
  }
  const wanted = new Set([...text.matchAll(/\$\{([A-Z0-9_]+):\?/g)].map(([, name]) => name));
  for (const name of wanted) assert.match(script, new RegExp(`^${name}=`, 'm'));
  for (const node of nodes) assert.deepEqual(services[node]?.environment, services.node1?.environment);
});

test('deploy/scale/start runs four nodes behind HAProxy, and leaves nothing behind after Ctrl-C', async (t) => {
  const { child, values } = await startScale(t);
  const headers = { Authorization: `Bearer ${values.get('first key')}` };
  const form = new FormData();
  form.set('purpose', 'record_file');
  form.set('file', new Blob(['green tea']), 'tea.txt');
  const uploaded = await fetch(`${values.get('files address')}/v1/files`, { method: 'POST', headers, body: form });
  assert.equal(uploaded.status, 200);
  const addresses = [1, 2, 3, 4].flatMap((index) => {
    const [, files, plugins] = /^(http:\S+) and (http:\S+), /.exec(values.get(`node${index}`) ?? '') ?? [];
    return [files, plugins];
  });
  for (const address of addresses) assert.equal((await fetch(`${address}/v1/ready`)).status, 200);
  const data = / data in (\S+)\/node1$/.exec(values.get('node1') ?? '')?.[1] ?? '';
  assert.ok(existsSync(data));
  const command = `${values.get('for commands')}; exec ${process.execPath} packages/cli/src/main.ts nodes --json`;
  const { stdout } = await run('sh', ['-c', command]);
  assert.equal(stdout.trim().split('\n').length, 4);
  const exited = once(child, 'exit');
  child.kill('SIGINT');
  assert.deepEqual(await exited, [0, null]);
  assert.equal(existsSync(data), false);
  const networks = existsSync('/run/netns') ? readdirSync('/run/netns') : [];
  assert.deepEqual(
    networks.filter((name) => name.startsWith(`qm-${child.pid}-`)),
    [],
  );
  for (const address of [...addresses, values.get('files address')]) await assert.rejects(fetch(`${address}/v1/ready`));
});

async function startScale(t: TestContext): Promise<{ child: ChildProcess; values: ReadonlyMap<string, string> }> {
  const ports = await findFreePorts();
  const options = ['--files-port', String(ports.files), '--plugins-port', String(ports.plugins)];
  const child = spawn(process.execPath, ['proof/scale/start.ts', ...options], { stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  let errors = '';
  child.stderr.on('data', (text) => {
    errors += text;
  });
  const values = new Map<string, string>();
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('Press Ctrl-C')) return { child, values };
    const [, name = '', value = ''] = /^(\S+(?: \S+)?) {2,}(.*)/.exec(line) ?? [];
    values.set(name, value);
  }
  throw new Error(`deploy/scale/start ended: ${errors}`);
}
