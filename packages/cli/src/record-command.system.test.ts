import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';

const main = resolve(import.meta.dirname, 'main.ts');
const secret = 'k/ey+"1é%{}';
const account = 'ada@example.com';

/**
 * Starts an API invented for this test. It first requires a token, and it repeats everything from the request in its
 * responses.
 */
async function startUpstream(t: TestContext) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => answer(request, body, response));
  });
  function answer({ url = '', headers, method }: IncomingMessage, body: string, response: ServerResponse): void {
    requests.push(`${method} ${url}`);
    const json = (status: number, value: unknown) =>
      response
        .writeHead(status, { 'content-type': 'application/json', 'set-cookie': 'session=abc', 'x-total': '2' })
        .end(JSON.stringify(value));
    const { authorization = '', 'x-key': key } = headers;
    const received = Buffer.from(String(key), 'latin1').toString('latin1');
    if (url === '/token') json(200, { access_token: `tok-${requests.length}-zzzz`, token_type: 'Bearer' });
    else if (url.startsWith('/refused')) json(403, { error: `not with ${received}\u009b31m\u202e` });
    else
      json(200, {
        celsius: requests.length,
        said: [
          authorization,
          received,
          Buffer.from(received).toString('base64'),
          encodeURIComponent(received),
          account,
          body,
        ],
      });
  }
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }; // listens on TCP
}

const bundleYaml = `id: climate
version: 1.0.0
name: Climate
description: Weather.
provider: Example
developer: Quartermaster
hosts: [api.climate.example]
credentials_schema:
  type: object
  required: [KEY, ACCOUNT, CLIENT]
  properties:
    KEY: {type: string, description: The key., x-secret: true}
    ACCOUNT: {type: string, description: The account.}
    CLIENT: {type: string, description: The client., x-secret: true}
inject:
  - {in: header, name: X-Key, credential: KEY}
  - {in: oauth2, grant: client_credentials, token_url: 'https://api.climate.example/token', client_id: CLIENT, client_secret: KEY}
`;

function plugin(id: string, more: string): string {
  return `id: ${id}
name: ${id}
description: What it is like somewhere.
idempotent: true
input_schema:
  type: object
  required: [place]
  properties: {place: {type: string, description: Where.}}
output_schema:
  type: object
  required: [celsius]
  properties:
    celsius: {type: integer, description: Temperature.}
    said: {type: array, items: {type: string}, description: What it said.}
${more}`;
}

const ask = (path: string) => `request: {url: 'https://api.climate.example${path}', query: {place: '{place}'}}\n`;
const handler = `export const run = async ({ place }, { fetch }) => {
  const urls = ['a', 'b'].map((name) => 'https://api.climate.example/' + name);
  const answers = await Promise.all(urls.map((url) => fetch({ method: 'POST', url, body: { place } })));
  return { celsius: JSON.parse(answers[1].text).celsius };
};
`;
const files: Readonly<Record<string, string>> = {
  'bundle.yaml': bundleYaml,
  'get_now.yaml': plugin(
    'get_now',
    `effects: read\n${ask('/now')}examples:\n  # Where it is cold.\n  - input: {place: Oslo}\n  - {input: {place: Rome}, upstream: rome.json}\n`,
  ),
  'get_both.yaml': plugin(
    'get_both',
    'effects: read\nhandler: both.ts\nexamples: [{input: {place: Oslo}, upstream: both.cassette.json}]\n',
  ),
  'change.yaml': plugin('change', `effects: write\n${ask('/change')}examples: [{input: {place: Oslo}}]\n`),
  'both.ts': handler,
};

async function createBundle(t: TestContext, more: Readonly<Record<string, string>> = {}): Promise<string> {
  const out = await mkdtemp(join(tmpdir(), 'quartermaster-record-'));
  t.after(() => rm(out, { recursive: true, force: true }));
  const folder = join(out, 'climate');
  await mkdir(join(folder, 'fixtures'), { recursive: true });
  for (const [name, content] of Object.entries({ ...files, ...more })) await writeFile(join(folder, name), content);
  await writeFile(join(folder, 'fixtures/rome.json'), '{"celsius": 30}');
  return folder;
}

/** Does not use `spawnSync`, because the upstream runs in this process. */
async function run(args: readonly string[], { origin, input = '' }: { origin?: string; input?: string } = {}) {
  const overrides = origin === undefined ? '' : JSON.stringify({ 'https://api.climate.example': origin });
  const env = { ...process.env, QUARTERMASTER_EGRESS_OVERRIDES: overrides };
  const child = spawn(process.execPath, [main, 'bundle', ...args], { env });
  child.stdin.end(input);
  const ended = new Promise<number | null>((done) => child.on('close', done));
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { status, stdout, stderr };
}

const credentials = JSON.stringify({ KEY: secret, ACCOUNT: account, CLIENT: 'client-1234' });

test('examples are recorded from the upstream without a credential, and played back without it', async (t) => {
  const folder = await createBundle(t);
  const { origin, requests } = await startUpstream(t);
  const recorded = await run(['record', folder, '--credentials', '-'], { origin, input: credentials });
  assert.deepEqual([recorded.status, recorded.stderr], [0, '']);
  assert.match(recorded.stdout, /get_now example 1: fixtures\/get_now-1\.cassette\.json/);
  assert.match(
    recorded.stdout,
    /get_now example 2: its response is a file that is not a recording, rome\.json; unchanged/,
  );
  assert.match(
    recorded.stdout,
    /change example 1: it changes data of the API \(effects: write\); use --write to record it; unchanged/,
  );
  assert.match(recorded.stdout, /2 of 4 examples recorded/);
  assert.deepEqual(
    requests.filter((line) => line.includes('change')),
    [],
  );
  assert.deepEqual((await readdir(join(folder, 'fixtures'))).sort(), [
    ...['both.cassette.json', 'get_now-1.cassette.json', 'rome.json'],
  ]);

  for (const name of ['both.cassette.json', 'get_now-1.cassette.json']) {
    const cassette = await readFile(join(folder, 'fixtures', name), 'utf8');
    const forbidden = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), account, 'client-1234'];
    const found = [...forbidden, Buffer.from(secret).toString('base64'), 'tok-', 'session=abc'].filter((form) =>
      cassette.includes(form),
    );
    assert.deepEqual(found, [], name);
    assert.match(cassette, /"x-total": "2"/);
  }
  const count = requests.length;
  const tested = await run(['test', folder, '--plugins', 'get_now,get_both']);
  assert.deepEqual([tested.status, tested.stderr], [0, '']);
  assert.match(tested.stdout, /3 of 3 examples pass/);
  assert.equal(requests.length, count);
});

test('outputs are written into the examples, and a changed upstream is reported', async (t) => {
  const folder = await createBundle(t);
  const { origin } = await startUpstream(t);
  const record = (...more: string[]) =>
    run(['record', folder, '--credentials', '-', '--plugins', 'get_now', ...more], { origin, input: credentials });
  assert.equal((await record('--outputs')).status, 0);
  const written = await readFile(join(folder, 'get_now.yaml'), 'utf8');
  assert.match(written, /# Where it is cold\.\n/);
  assert.match(written, /output: \{celsius: 2, said: \[/);
  assert.match(written, /\[redacted\]/);
  assert.equal((await run(['test', folder, '--plugins', 'get_now'])).status, 0);
  // This upstream counts its answers.
  const again = await record();
  assert.equal(again.status, 1);
  assert.match(
    again.stderr,
    /get_now example 1: recorded into .*, but output must be \{"celsius":2.*received \{"celsius":4/,
  );
});

test('a request without a recording gets no response, and an unused recording fails the example', async (t) => {
  const folder = await createBundle(t);
  const { origin } = await startUpstream(t);
  await run(['record', folder, '--credentials', '-'], { origin, input: credentials });
  await writeFile(join(folder, 'get_now.yaml'), String(files['get_now.yaml']).replaceAll('/now', '/later'));
  await writeFile(
    join(folder, 'both.ts'),
    handler.replace("['a', 'b']", "['b', 'b'].slice(0, 1)").replace('answers[1]', 'answers[0]'),
  );
  const { status, stderr } = await run(['test', folder, '--plugins', 'get_now,get_both']);
  assert.equal(status, 1);
  assert.match(
    stderr,
    /get_now example 1: .*no call GET https:\/\/api\.climate\.example\/later\?place=Oslo with this body; record the example again/,
  );
  assert.match(stderr, /get_both example 1: 1 of the recorded calls were not made/);
});

test('an example that fails upstream is not recorded, and its error contains no credential', async (t) => {
  const folder = await createBundle(t, {
    'get_now.yaml': String(files['get_now.yaml']).replaceAll('/now', '/refused'),
  });
  const { origin } = await startUpstream(t);
  const arguments_ = ['record', folder, '--credentials', '-', '--plugins', 'get_now'];
  const { status, stderr, stdout } = await run(arguments_, { origin, input: credentials });
  assert.equal(status, 1);
  assert.match(stderr, /it ended as upstream_rejected: not with .*\[redacted\].*; it responded with .*\[redacted\]/);
  assert.ok(!(stderr + stdout).includes(JSON.stringify(secret).slice(1, -1)));
  assert.match(stderr, /\\u009b31m\ufffd/, 'what others say steers no terminal');
  assert.deepEqual(await readdir(join(folder, 'fixtures')), ['rome.json']);
  const missing = await run(arguments_, { origin, input: '{}' });
  assert.match(missing.stderr, /get_now example 1: .*credentials/);
  assert.match((await run(arguments_, { origin, input: secret })).stderr, /The credentials must be JSON\.$/m);
});

test('links that another user prepared in a folder do not redirect a recording', async (t) => {
  const exampleOf = (upstream: string) => `  - {input: {place: Oslo}, upstream: ${upstream}.cassette.json}\n`;
  const examples = `examples:\n${exampleOf('../stolen')}${exampleOf('linked/stolen')}${exampleOf('fixtures/link')}`;
  const folder = await createBundle(t, {
    'get_now.yaml': plugin('get_now', `effects: read\n${ask('/now')}${examples}`),
  });
  const theirs = join(folder, '..', 'theirs');
  await mkdir(theirs);
  await writeFile(join(theirs, '.profile'), 'theirs');
  await symlink(theirs, join(folder, 'linked'));
  await symlink(join(theirs, '.profile'), join(folder, 'fixtures/link.cassette.json'));
  await symlink(join(theirs, '.profile'), join(folder, 'types.ts'));
  const { origin } = await startUpstream(t);
  const arguments_ = ['record', folder, '--credentials', '-', '--plugins', 'get_now'];
  const { status, stdout, stderr } = await run(arguments_, { origin, input: credentials });
  assert.equal(status, 1);
  for (const path of ['../stolen', 'linked/stolen']) {
    assert.ok(stderr.includes(`"${path}.cassette.json" is outside the bundle`), stderr);
  }
  assert.match(stdout, /1 of 3 examples recorded/);
  assert.equal((await run(['types', folder])).status, 0);
  assert.deepEqual(await readdir(theirs), ['.profile']);
  assert.equal(await readFile(join(theirs, '.profile'), 'utf8'), 'theirs');
  assert.deepEqual((await readdir(join(folder, '..'))).sort(), ['climate', 'theirs']);
});
