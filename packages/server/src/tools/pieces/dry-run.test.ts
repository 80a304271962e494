import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { placeText } from '../egress/placeholders/request-parts.ts';
import { openTestBed } from '../execution/sandbox/testing/test-bed.suite.ts';
import { describePiece } from './describe-piece.ts';
import { dryRunPiece } from './dry-run.ts';
import { literalHosts } from './literal-hosts.ts';
import { generations } from './testing/generations.suite.ts';
import { pieceOf } from './testing/small-pieces.suite.ts';

const bed = await openTestBed({ isolation: 'sandbox' });
after(() => bed[Symbol.asyncDispose]());
const { signal } = new AbortController();

async function dryRun(source: string) {
  const file = Buffer.from(source);
  const {
    places,
    repeatable: _,
    ...found
  } = await dryRunPiece(file, await describePiece(file, bed.sandbox, signal), bed.sandbox, signal);
  return { ...found, places: places.map(({ host, place }) => `${host} ${placeText(place)}`) };
}

/** The bodies of actions. They see the fields of the account, and `post`. */
const bodies: Readonly<Record<string, string>> = {
  bearer: `if (account.region === 'us1') await post('https://us1.example.net/', { 'x-key': account.key });
    await post('https://' + account.subdomain + '.chat.example.net/me', { authorization: 'Bearer ' + account.key });`,
  second: `const answer = await post('https://api.example.net/me', { 'x-key': account.key });
    const { ok } = await answer.json(); if (ok) await post('https://files.example.net/' + propsValue.name);`,
  basic: `await post('https://api-' + account.subdomain + '.example.net/', { authorization: 'Basic ' + btoa('me:' + account.key) });`,
  login: `await post('https://api.example.net/', { authorization: 'Basic ' + btoa(account.login + ':' + account.key), 'x-team': account.team });
    await post('https://api.example.net/teams/' + account.team, { 'x-key': account.key });`,
  query: `await post(account.base_url + '/search?api_key=' + account.key);`,
  region: `await post('https://' + account.region + '.example.net/', { 'x-key': account.key });`,
  form: `await post('https://api.example.net/', { 'content-type': 'application/x-www-form-urlencoded' }, 'a=1&token=' + account.key);`,
  path: `await post('https://api.example.net/bot' + account.key + '/send');`,
  nested: `await post('https://api.example.net/teams/' + account.team + '/rooms/' + account.room, { 'x-key': account.key });`,
  required: `if (propsValue.more) throw new Error('Not both.'); await post('https://api.example.net/', { 'x-key': account.key });`,
  json: `await post('https://api.example.net/', {}, JSON.stringify({ key: account.key }));`,
  hmac: `const { createHmac } = require('crypto'); await post('https://api.example.net/', { 'x-signature': createHmac('sha256', account.key).update('a').digest('hex') });`,
  anywhere: `await post('https://' + account.subdomain + '.com/', { 'x-key': account.key });`,
  silent: `throw new Error('No.');`,
  anyone: `await post('https://open.example.net/');`,
};

const piece = `
const text = { type: 'SHORT_TEXT', displayName: 'Text', required: true };
const post = (url, headers = {}, body) => fetch(new URL(url), { method: body ? 'POST' : 'GET', headers, body });
const option = (value) => ({ label: value, value });
exports.piece = { displayName: 'Chat', getContextInfo: () => ({ version: '2' }),
  auth: { type: 'CUSTOM_AUTH', displayName: 'Account', required: true, props: { subdomain: text, base_url: text, login: text, team: text, room: text,
    region: { type: 'STATIC_DROPDOWN', displayName: 'Region', required: true, options: { options: [option('eu1'), option('us1')] } },
    key: { type: 'SECRET_TEXT', displayName: 'Key', required: true } } },
  _actions: { ${Object.entries(bodies)
    .map(
      ([
        name,
        body,
      ]) => `${name}: { name: '${name}', displayName: '${name}', description: '', requireAuth: ${name !== 'anyone'},
        props: { name: text, more: { ...text, required: false } },
        run: async ({ auth, propsValue }) => { const account = auth.props; ${body} return {}; } },`,
    )
    .join('\n')} } };`;

test('a dry run finds the hosts of a piece, the places of its credentials, and actions that compute with them', async () => {
  assert.deepEqual(await dryRun(piece), {
    hosts: [
      ...['api-{subdomain}.example.net', 'api.example.net', 'eu1.example.net', 'files.example.net', 'open.example.net'],
      ...['us1.example.net', '{base_url}', '{subdomain}.chat.example.net'],
    ],
    computes: ['hmac'],
    untried: [],
    silent: ['json', 'anywhere', 'silent'],
    elsewhere: ['json: the body'],
    clearTexts: ['base_url', 'room', 'subdomain'],
    places: [
      '{subdomain}.chat.example.net header:authorization',
      'api.example.net header:x-key',
      'api-{subdomain}.example.net header:authorization',
      'api.example.net header:authorization',
      '{base_url} query:api_key',
      'eu1.example.net header:x-key',
      'api.example.net form:token',
      'api.example.net path:/bot',
      'us1.example.net header:x-key',
      'api.example.net header:x-team',
      'api.example.net path:/teams/',
    ],
  });
});

test('the address of an account in the answer of a token endpoint is a credential that a host may be', async () => {
  const found = await dryRun(`exports.piece = { displayName: 'Deals', getContextInfo: () => ({ version: '2' }),
    auth: { type: 'OAUTH2', displayName: 'Account', required: true, authUrl: '', tokenUrl: '', scope: [] },
    _actions: { list: { name: 'list', displayName: 'List', description: '', props: {}, run: async ({ auth: { data } }) => {
      await fetch(data['api_domain'] + '/deals', { headers: { authorization: 'Bearer ' + data.access_token } }); } } } };`);
  const places = ['{api_domain} header:authorization'];
  assert.deepEqual(found, {
    hosts: ['{api_domain}'],
    clearTexts: ['api_domain'],
    places,
    computes: [],
    untried: [],
    silent: [],
    elsewhere: [],
  });
});

test('the pieces of each generation of the framework show their place', async () => {
  for (const [name, { source }] of Object.entries(generations)) {
    const found = { hosts: ['api.example.com'], computes: [], untried: [], silent: [], elsewhere: [], clearTexts: [] };
    assert.deepEqual(await dryRun(source), { ...found, places: ['api.example.com header:x-key'] }, name);
  }
});

test('an action that sent a request with POST may not be repeated, whatever the piece declares', async () => {
  const send = (method: string) => `await fetch('https://api.example.net/', { method: '${method}' });`;
  const file = Buffer.from(
    pieceOf({ ask: send('POST'), get: send('GET'), put: send('PUT'), both: send('GET') + send('PATCH'), none: '' }),
  );
  const declared = await describePiece(file, bed.sandbox, signal);
  assert.deepEqual((await dryRunPiece(file, declared, bed.sandbox, signal)).repeatable, ['get', 'put']);
});

test('a dry run is bounded as a whole, names the actions that it did not try, and tells its progress', async () => {
  const body = 'await new Promise(() => {});';
  const file = Buffer.from(pieceOf(Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`hang${at}`, body]))));
  const progress: string[] = [];
  const onProgress = (done: number, all: number) => void progress.push(`${done}/${all}`);
  const declared = await describePiece(file, bed.sandbox, signal);
  const { untried } = await dryRunPiece(file, declared, bed.sandbox, signal, { onProgress, limitMs: 500 });
  assert.ok(untried.length >= 28, `${untried.length} of 30 actions were not tried`);
  assert.deepEqual([progress[0], untried.at(-1)], ['0/30', 'hang29']);
});

test('the hosts in the file of a piece are those of its URLs, without templates and documents', () => {
  const urls = ['https://API.example.dev/v1', 'https://files.example.dev:8443', 'https://developers.example.dev/a'];
  const others =
    '`https://$<region}.example.dev` https://api-$<region}.dev/ https://www.w3.org/ https:// http://x.dev/'.replaceAll(
      '<',
      '{',
    );
  const file = Buffer.from(`${JSON.stringify(urls)} \`https://graph.example.dev/\${version}\` ${others}`);
  assert.deepEqual(literalHosts(file).hosts, ['api.example.dev', 'graph.example.dev']);
});
