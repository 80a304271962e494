import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { openTestBed } from '../execution/sandbox/testing/test-bed.suite.ts';
import { createReadPiece } from './read-piece.ts';

const bed = await openTestBed({ isolation: 'sandbox' });
after(() => bed[Symbol.asyncDispose]());

const readPiece = createReadPiece({ sandbox: async () => bed.sandbox });

const secret = `{ type: 'SECRET_TEXT', displayName: 'Key', required: true }`;

/** Reads a piece with one action. */
async function read(body: string, auth = secret) {
  const file = Buffer.from(`exports.tea = { displayName: 'Tea', homepage: 'https://www.tea.example.dev/',
    auth: ${auth}, getContextInfo: () => ({ version: '1' }),
    _actions: { brew: { name: 'brew', displayName: 'Brew', description: '', props: {}, run: async ({ auth }) => { ${body} } } } };`);
  const { signal } = new AbortController();
  const about = { name: '@x/piece-tea', version: '1.0.0', integrity: 'sha512-x', licence: '', packedFrom: null };
  const { files, warnings } = await readPiece({ ...about, file }, undefined, signal);
  const { hosts, credential_places, credentials_schema } = parse(String(files.get('bundle.yaml')));
  return { hosts, getting: credential_places.hosts, warnings, credentials: credentials_schema.properties };
}

test('only hosts that the dry run called may be reached, and a warning names the others in the code', async () => {
  const body = `return (await fetch('https://api.tea.example.dev/brew', { headers: { 'x-key': auth.secret_text } })).json();`;
  const { credentials: _, ...found } = await read(body);
  assert.deepEqual(found, {
    hosts: ['api.tea.example.dev'],
    getting: ['api.tea.example.dev'],
    warnings: ['The code also names these hosts, which calls may not reach: www.tea.example.dev.'],
  });
});

test('hosts in the code are proposed if the dry run called none', async () => {
  const { hosts, getting, warnings } = await read(`throw new Error('No.');`);
  assert.deepEqual([hosts, getting], [['www.tea.example.dev'], []]);
  assert.match(warnings[0] ?? '', /calls may reach because the dry run reached none: www\.tea\.example\.dev/);
});

test('a text of the credentials is a secret, unless the piece needs it in clear, which a warning names', async () => {
  const names = ['site', 'pat', 'login', 'region', 'unused'];
  const fields = names.map((name) => `${name}: { type: 'SHORT_TEXT', displayName: '${name}', required: true }`);
  const auth = `{ type: 'CUSTOM_AUTH', displayName: 'Account', required: true, props: { ${fields.join()}, key: ${secret} } }`;
  const body = `const { site, pat, login, region, key } = auth.props;
    const headers = { authorization: 'Basic ' + btoa(login + ':' + key), 'x-region': region, 'content-type': 'application/json' };
    return await fetch('https://' + site + '.tea.example.dev/', { method: 'POST', headers, body: JSON.stringify({ pat }) });`;
  const { credentials, warnings } = await read(body, auth);
  const secrets = Object.entries(credentials).filter(([, schema]) => Object(schema)['x-secret'] === true);
  assert.deepEqual(
    secrets.map(([name]) => name),
    ['login', 'region', 'unused', 'key'],
  );
  assert.ok(
    warnings.includes('The piece gets these credentials in clear, so it can read them: pat, site.'),
    warnings.join(),
  );
});

test('places whose content a third party may show to others have a warning', async () => {
  const body = `const key = auth.secret_text;
    const headers = { cookie: 'session=' + key, 'user-agent': key, 'x-key': key, 'content-type': 'application/x-www-form-urlencoded' };
    const form = new URLSearchParams({ 'message[text]': key, token: key });
    return await fetch('https://api.tea.example.dev/brew?title=' + key, { method: 'POST', headers, body: form.toString() });`;
  const { warnings } = await read(body);
  const [first = ''] = warnings;
  assert.match(first, /^The credential in .* may be shown to others; remove it unless the documentation/);
  for (const place of ['header:cookie', 'header:user-agent', 'query:title', 'form:message[text]'])
    assert.ok(first.includes(place), `${place}: ${first}`);
  assert.doesNotMatch(first, /x-key|token/);
});

test('a piece whose actions all compute with the secret is planned without hosts, and its first warning says that none can work', async () => {
  const { hosts, warnings } = await read(
    `return require('crypto').createHmac('sha256', auth.secret_text).digest('hex');`,
  );
  assert.deepEqual(hosts, []);
  assert.match(warnings[0] ?? '', /^No action can work: all 1 compute with their secret/);
  assert.match(warnings[1] ?? '', /which calls may not reach: www\.tea\.example\.dev/);
});

test('addresses of the machine or its network that a piece calls are not proposed, and a warning names them', async () => {
  const inside = ['127.0.0.1:8080', '169.254.169.254', '10.0.0.1', 'tea.localhost'];
  const calls = ['api.tea.example.dev', ...inside].map(
    (host) => `await fetch('https://${host}/', { headers: { 'x-key': auth.secret_text } });`,
  );
  const { hosts, getting, warnings } = await read(calls.join('\n'));
  assert.deepEqual([hosts, getting], [['api.tea.example.dev'], ['api.tea.example.dev']]);
  for (const host of inside) assert.match(warnings[0] ?? '', new RegExp(`addresses of this machine.*${host}`));
});
