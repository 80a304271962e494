import assert from 'node:assert/strict';
import { chmod, link, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parseConfig } from '../../../server/src/app/settings/config.ts';
import { findConnection } from './connection.ts';
import { deleteLogin, loginFile, readLogin, writeLogin } from './stored-login.ts';

const stored = { url: 'https://qm.example', pluginsUrl: undefined, apiKey: 'qmk_stored' };
const local = { filesUrl: 'http://127.0.0.1:8080', pluginsUrl: 'http://127.0.0.1:8081' };

async function home(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-login-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

test('options come before the environment, the environment before the login, and the login before the settings', async (t) => {
  const environment = { HOME: await home(t) };
  assert.deepEqual(await findConnection({}, 'files', environment), { ...local, apiKey: undefined });
  const settings = { ...environment, QUARTERMASTER_HOST: '::', QUARTERMASTER_FILES_PORT: '7' };
  assert.equal((await findConnection({}, 'files', settings)).filesUrl, 'http://localhost:7');
  await writeLogin(environment, stored);
  const own = { filesUrl: stored.url, pluginsUrl: undefined, apiKey: stored.apiKey };
  assert.deepEqual(await findConnection({}, 'files', settings), own);
  const set = { ...settings, QUARTERMASTER_URL: 'http://b.example/x/', QUARTERMASTER_API_KEY: ' qmk_set ' };
  const ofEnvironment = { filesUrl: 'http://b.example/x', pluginsUrl: undefined, apiKey: 'qmk_set' };
  assert.deepEqual(await findConnection({}, 'files', set), ofEnvironment);
  const file = join(environment.HOME, 'key');
  await writeFile(file, 'qmk_file\n');
  const options = { url: 'http://c.example', keyFile: file };
  const ofOptions = { pluginsUrl: 'http://c.example', apiKey: 'qmk_file' };
  assert.deepEqual(await findConnection(options, 'plugins', set), { filesUrl: undefined, ...ofOptions });
});

test('a stored key goes to the addresses it was stored with, and to no other', async (t) => {
  const environment = { HOME: await home(t) };
  await writeLogin(environment, { ...stored, pluginsUrl: 'https://plugins.example/p' });
  const keyFor = async (url: string, address: 'files' | 'plugins' = 'files') =>
    (await findConnection({ url }, address, environment)).apiKey;
  assert.equal(await keyFor('https://qm.example/'), stored.apiKey);
  assert.equal(await keyFor('https://QM.example:443', 'plugins'), stored.apiKey);
  assert.equal(await keyFor('https://qm.example/plugins', 'plugins'), stored.apiKey);
  assert.equal(await keyFor('https://plugins.example/p', 'plugins'), stored.apiKey);
  for (const other of [
    'http://qm.example',
    'https://qm.example:8443',
    'https://qm.example.evil.example',
    'https://evil.example/https://qm.example',
    'https://qm.example/other',
    'https://qm.example/plugins/..%2f',
  ]) {
    assert.equal(await keyFor(other), undefined, other);
    const set = { ...environment, QUARTERMASTER_URL: other };
    assert.equal((await findConnection({}, 'files', set)).apiKey, undefined, other);
    const mixed = { ...environment, QUARTERMASTER_URL: stored.url, QUARTERMASTER_PLUGINS_URL: other };
    assert.equal((await findConnection({}, 'plugins', mixed)).apiKey, undefined, other);
  }
});

test('the login is stored for its user alone, and replaces a link instead of following it', async (t) => {
  const environment = { HOME: await home(t), XDG_CONFIG_HOME: 'relative' };
  const file = loginFile(environment);
  assert.equal(file, join(environment.HOME, '.config/quartermaster/login.json'));
  assert.equal(loginFile({ XDG_CONFIG_HOME: '/x' }), '/x/quartermaster/login.json');
  const other = join(environment.HOME, 'other');
  await writeFile(other, 'unchanged', { mode: 0o644 });
  await mkdir(dirname(file), { recursive: true });
  await symlink(other, file);
  assert.equal(await writeLogin(environment, stored), file);
  assert.equal(await readFile(other, 'utf8'), 'unchanged');
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.deepEqual(await readdir(dirname(file)), ['login.json']);
  assert.deepEqual(await readLogin(environment), stored);
  // A hard link to the old file does not show the new key.
  await link(file, join(environment.HOME, 'copy'));
  await writeLogin(environment, { ...stored, apiKey: 'qmk_new' });
  assert.doesNotMatch(await readFile(join(environment.HOME, 'copy'), 'utf8'), /qmk_new/);
  assert.equal(await deleteLogin(environment), true);
  assert.equal(await deleteLogin(environment), false);
  assert.equal(await readLogin(environment), undefined);
});

test('a folder that the login creates is closed to other users', async (t) => {
  const environment = { HOME: await home(t) };
  const file = await writeLogin(environment, stored);
  assert.equal((await stat(dirname(file))).mode & 0o777, 0o700);
});

test('a login that others can access, or that is malformed, is refused without its content', async (t) => {
  const environment = { HOME: await home(t) };
  const file = await writeLogin(environment, stored);
  for (const mode of [0o640, 0o604, 0o620, 0o602]) {
    await chmod(file, mode);
    await assert.rejects(readLogin(environment), { exitCode: 78, message: /^Other users can access .*chmod 600/ });
  }
  await chmod(file, 0o600);
  for (const content of [
    '',
    '{',
    '[]',
    'null',
    '{"url":1,"api_key":"qmk_x"}',
    '{"url":"http://a"}',
    ' '.repeat(70_000),
  ]) {
    await writeFile(file, content);
    await assert.rejects(readLogin(environment), (error: Error) => {
      assert.match(error.message, /does not hold a login\. Run "npm run quartermaster -- login" again\.$/);
      return !error.message.includes('qmk_');
    });
  }
});

test('the addresses without settings are those of the service', () => {
  const { host, filesPort, pluginsPort } = parseConfig({});
  assert.deepEqual(
    [`http://${host}:${filesPort}`, `http://${host}:${pluginsPort}`],
    [local.filesUrl, local.pluginsUrl],
  );
});

test('the service starts although the variables of the command line are set', () => {
  const set = { QUARTERMASTER_URL: 'x', QUARTERMASTER_PLUGINS_URL: 'y', QUARTERMASTER_API_KEY: 'z' };
  assert.equal(parseConfig(set).filesPort, 8080);
  assert.throws(() => parseConfig({ QUARTERMASTER_URLS: 'x' }), /QUARTERMASTER_URLS is not a setting/);
});

test('a malformed URL or key of the environment is refused without being quoted', async (t) => {
  const environment = { HOME: await home(t) };
  for (const [name, value] of [
    ['QUARTERMASTER_URL', 'http://me:hunter2@a.example'],
    ['QUARTERMASTER_PLUGINS_URL', 'hunter2'],
    ['QUARTERMASTER_API_KEY', 'hunter2 hunter2'],
    ['QUARTERMASTER_API_KEY', 'hunter2\nX: y'],
  ] as const) {
    await assert.rejects(findConnection({}, 'files', { ...environment, [name]: value }), (error: Error) => {
      assert.match(error.message, new RegExp(`^${name} must `));
      return !error.message.includes('hunter2');
    });
  }
});
