import assert from 'node:assert/strict';
import { chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Quartermaster } from '@quartermaster/client';
import { connectClient, settledRecord } from '../support/client.ts';
import { buildImage, type Image } from '../support/container-image.ts';
import { readDockerRun } from '../support/docker-run.ts';
import { findFreePorts } from '../support/free-port.ts';
import { readStatus, runContainer } from '../support/run-container.ts';
import { handbook } from '../support/sample-handbook.ts';
import { type Ending, temporaryFolder } from '../support/service.ts';

let folder = '';
let image: Image;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quartermaster-container-'));
  image = await buildImage(folder);
});
after(() => rm(folder, { recursive: true, force: true }));

/** Creates the volumes of a container and its settings. `client` has the first key of the service. */
async function prepare(t: Ending) {
  const at = await temporaryFolder(t);
  const [data, secrets] = [join(at, 'data'), join(at, 'secrets')];
  for (const name of [data, secrets]) await mkdir(name);
  await chown(data, 10_001, 10_001);
  const ports = await findFreePorts();
  const [filesUrl, pluginsUrl] = [`http://127.0.0.1:${ports.files}`, `http://127.0.0.1:${ports.plugins}`];
  const settings = {
    QUARTERMASTER_HOST: '127.0.0.1',
    QUARTERMASTER_FILES_PORT: String(ports.files),
    QUARTERMASTER_PLUGINS_PORT: String(ports.plugins),
    QUARTERMASTER_DRAIN_SECONDS: '0',
  };
  const client = async () => {
    const apiKey = (await readFile(join(data, 'store/first-key'), 'utf8')).trim();
    return connectClient({ filesUrl, pluginsUrl }, apiKey);
  };
  return { data, secrets, settings, client };
}

function add(client: Quartermaster) {
  const input_params = { number_1: 2, number_2: 3 };
  return client.plugins.run('arithmetic/add', input_params);
}

test('[container] the image declares an ordinary user, a health check and one volume, and holds neither npm nor a compiler', async (t) => {
  const { config, files } = image;
  assert.equal(config.User, '10001:10001');
  assert.equal(config.StopSignal, 'SIGTERM');
  assert.deepEqual(Object.keys(config.Volumes), ['/data']);
  assert.deepEqual(Object.keys(config.ExposedPorts), ['8080/tcp', '8081/tcp']);
  assert.deepEqual(config.Healthcheck.Test, ['CMD', 'node', '/opt/quartermaster/health-check.mjs']);
  const programs = (await Promise.all(['usr/bin', 'usr/local/bin'].map((name) => readdir(join(files, name))))).flat();
  assert.ok(programs.includes('bwrap') && programs.includes('quartermaster') && programs.includes('node'));
  for (const name of ['npm', 'npx', 'gcc', 'cc', 'curl', 'wget']) assert.ok(!programs.includes(name), name);
  const listed = JSON.parse(await image.buildah('images', '--json')) as { names: string[]; size: string }[];
  t.diagnostic(`the image: ${listed.find(({ names }) => names.join().includes('quartermaster'))?.size}`);
});

test('[container] the ports, the volume and the files of the documented docker commands are those of the image', async () => {
  const { options, commands } = await readDockerRun();
  const inside = (option: string) =>
    options.filter(([name]) => name === option).map(([, value]) => value.split(':').at(-1));
  assert.deepEqual(
    inside('--publish'),
    Object.keys(image.config.ExposedPorts).map((port) => port.replace('/tcp', '')),
  );
  assert.deepEqual(inside('--volume'), Object.keys(image.config.Volumes));
  const store = image.config.Env.find((entry) => entry.startsWith('QUARTERMASTER_DATA='))?.split('=')[1] ?? '';
  for (const name of ['first-key', 'setup-link']) assert.ok(commands.includes(` ${store}/${name}`), name);
});

test('[container] with a read-only root and no capability, the service reads a PDF, runs a plugin in the sandbox and stops in order', async (t) => {
  const { settings, client: openClient, ...at } = await prepare(t);
  const request = { ...at, settings: { ...settings, QUARTERMASTER_ISOLATION: 'sandbox' } };
  const container = await runContainer(t, image, request);
  const status = await readStatus(container.pid);
  assert.equal(status.get('Uid'), ['10001', '10001', '10001', '10001'].join('\t'));
  assert.equal(status.get('NoNewPrivs'), '1');
  for (const set of ['CapEff', 'CapPrm', 'CapBnd']) assert.match(status.get(set) ?? '', /^0+$/, set);
  await assert.rejects(container.exec('touch', '/opt/quartermaster/new'), /Read-only file system/);
  assert.equal(await container.exec(...image.config.Healthcheck.Test.slice(1)), '/v1/ready: 200\n');

  const client = await openClient();
  const content = new Blob([new Uint8Array(handbook[0]?.bytes ?? [])]);
  const file = await client.files.upload(content, { purpose: 'record_file', name: 'guide.pdf' });
  const { collection_id } = await client.collections.create({ name: 'guides' });
  const { record_id } = await client.records.create(collection_id, { type: 'file', file_id: file.file_id });
  const record = await settledRecord(client, collection_id, record_id);
  assert.equal(record.status, 'ready', JSON.stringify(record.error));
  const [hit] = await client.search(collection_id, { query_text: 'handbook', top_k: 1 });
  assert.equal(hit?.record_id, record_id);
  assert.deepEqual((await add(client)).data, { result: 5 });
  assert.match(await container.exec('quartermaster', 'project', 'list'), /default/);

  assert.equal(await container.stop(), 0);
  assert.match(container.output(), /"tier":"sandbox".*document reader isolation selected/);
  assert.match(container.output(), /"msg":"service stopped"/);
  assert.deepEqual(await readdir(at.data), ['store']);
  const again = await runContainer(t, image, request);
  assert.equal((await client.files.get(file.file_id)).file_id, file.file_id);
  assert.equal(await again.stop(), 0);
});

test('[container] the first key, the administrator and the encryption key come from files', async (t) => {
  const { settings, client: _, ...at } = await prepare(t);
  const generate = (...command: string[]) =>
    image.buildah('run', '--isolation', 'chroot', image.container, '--', 'quartermaster', ...command);
  const password = 'seven otters paint slowly';
  const key = await generate('key', 'generate');
  await writeFile(join(at.secrets, 'first-key'), `${key}\n`);
  await writeFile(join(at.secrets, 'password'), `${password}\n`);
  await writeFile(join(at.secrets, 'encryption-keys'), `${await generate('profile', 'new-key')}\n`);
  const files = {
    QUARTERMASTER_FIRST_KEY_FILE: '/run/secrets/first-key',
    QUARTERMASTER_ADMINISTRATOR_PASSWORD_FILE: '/run/secrets/password',
    QUARTERMASTER_SEALING_KEY_FILE: '/run/secrets/encryption-keys',
  };
  const container = await runContainer(t, image, { ...at, settings: { ...settings, ...files } });
  const filesUrl = `http://127.0.0.1:${settings.QUARTERMASTER_FILES_PORT}`;
  const listed = await fetch(`${filesUrl}/v1/files`, { headers: { Authorization: `Bearer ${key}` } });
  assert.equal(listed.status, 200);
  const signIn = await fetch(`${filesUrl}/v1/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'administrator', password }),
  });
  assert.equal(signIn.status, 200);
  const stored = await readdir(join(at.data, 'store'));
  for (const name of ['first-key', 'setup-link', 'encryption-key']) assert.ok(!stored.includes(name), name);
  assert.equal(await container.stop(), 0);
  for (const secret of [key, password]) assert.ok(!container.output().includes(secret));
  assert.match(container.output(), /"event":"account_created".*"name":"administrator"/);
});

test('[container] the health check fails while the service does not answer', async () => {
  const { files } = await findFreePorts();
  const command = ['env', `QUARTERMASTER_FILES_PORT=${files}`, ...image.config.Healthcheck.Test.slice(1)];
  await assert.rejects(image.buildah('run', '--isolation', 'chroot', image.container, '--', ...command), (error) => {
    assert.match((error as { stderr: string }).stderr, /\/v1\/ready: ECONNREFUSED/);
    return true;
  });
});

test('[container] without user namespaces the service names the cause and the remedy, and serves', async (t) => {
  const { settings, client, ...at } = await prepare(t);
  const container = await runContainer(t, image, { ...at, settings, withoutUserNamespaces: true });
  assert.deepEqual((await add(await client())).data, { result: 5 });
  assert.equal(await container.stop(), 0);
  const lines = container.output().split('\n');
  const warnings = lines.flatMap((line) => (line.startsWith('{"level":"warn"') ? [JSON.parse(line)] : []));
  const messages = ['document readers started without a sandbox', 'handlers refused: no sandbox available'];
  for (const message of messages) {
    const warning = warnings.find(({ msg }) => msg === message);
    assert.equal(warning?.missing, 'user namespaces are not allowed here', message);
    assert.match(warning?.remedy, /user namespaces/, message);
  }
});
