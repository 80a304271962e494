import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { type TestContext, test } from 'node:test';
import { pieceBundle } from '../pieces/piece-bundle.ts';
import type { PieceDescription } from './pieces/child/piece-task.ts';
import { openBench } from './testing/execution.suite.ts';

/** A piece that passes what it gets to its third party. */
const source = `
const text = (name, more) => ({ name, type: 'SHORT_TEXT', displayName: name, required: false, ...more });
const call = async (path, auth, body) => {
  const answer = await fetch('https://api.example.com' + path, { method: 'POST', headers: { authorization: 'Bearer ' + auth.secret_text }, body });
  if (!answer.ok) throw new Error(JSON.stringify({ response: { status: answer.status, body: await answer.text() } }));
  return await answer.json();
};
const channel = { type: 'DROPDOWN', displayName: 'Channel', required: true, refreshers: ['team'],
  options: async ({ auth, team }, { searchValue }) => {
    if (team === 'large') return { options: Array.from({ length: 5000 }, (_, at) => ({ label: (at % 10 ? 'other ' : 'Gen ') + at, value: at })) };
    if (team === 'odd') return { options: [{ label: 'x'.repeat(300), value: 1 }, 5] };
    const found = await call('/channels?team=' + team + '&q=' + searchValue, auth);
    return { disabled: false, placeholder: 'Choose', options: found.map((one) => ({ label: one.name, value: one.id })) };
  } };
const fields = { type: 'DYNAMIC', displayName: 'Fields', required: false, refreshers: [], props: async ({ auth, team }) => team === 'odd' ? { map: { type: 'MAP', displayName: 'Map' } } : ({ size: { type: 'NUMBER', displayName: 'Size', required: true } }) };
const action = (name, run, props = {}) => ({ name, displayName: name, description: 'Does ' + name, props, run });
const actions = [
  action('send', ({ auth, propsValue }) => call('/send', auth, propsValue.body), { team: text('Team'), channel, fields, body: text('Body') }),
  action('leak', ({ auth }) => call('/leak', auth, 'my secret: ' + auth.secret_text)),
  action('count', () => (globalThis.runs = (globalThis.runs ?? 0) + 1)),
  action('write', async ({ files }) => ({ url: await files.write({ fileName: 'a.txt', data: Buffer.from('Assam') }) })),
];
exports.tea = { displayName: 'Tea', getContextInfo: () => ({ version: '2' }), _actions: Object.fromEntries(actions.map((one) => [one.name, one])) };`;

const base = { displayName: '', description: 'Text', required: false };
const described = (name: string, props: PieceDescription['actions'][number]['props'] = []) => ({
  ...{ name, displayName: name, description: `Does ${name}`, requireAuth: true },
  ...{ classification: '', idempotent: false, props, output: [] },
});
const description: PieceDescription = {
  ...{ displayName: 'Tea', description: '', logoUrl: '', categories: [] },
  auth: [
    {
      ...{
        kind: 'SECRET_TEXT',
        props: [],
        authUrl: '',
        tokenUrl: '',
        scope: [],
        pkce: false,
        prompt: '',
        authorizationMethod: '',
      },
      displayName: '',
      description: '',
    },
  ],
  actions: [
    described('send', [
      { ...base, name: 'team', type: 'SHORT_TEXT' },
      { ...base, name: 'channel', type: 'DROPDOWN', required: true, refreshers: ['team'] },
      { ...base, name: 'fields', type: 'DYNAMIC' },
      { ...base, name: 'body', type: 'SHORT_TEXT' },
    ]),
    ...['leak', 'count', 'write'].map((name) => described(name)),
  ],
};
const host = 'api.example.com';
const bundleFiles = pieceBundle({
  ...{ description, id: 'piece_tea', package: '@activepieces/piece-tea', version: '1.0.0', integrity: 'sha512-a' },
  ...{ hosts: [host], file: Buffer.from(source), repeatable: [] },
  credentialPlaces: { hosts: [host], places: [{ in: 'header', name: 'authorization' }] },
});
const files = Object.fromEntries([...bundleFiles].map(([name, content]) => [`piece_tea/${name}`, content.toString()]));
const token = 'r3al-secret-0123456789';

const ok: RequestListener = (_request, response) =>
  void response.setHeader('content-type', 'application/json').end('[{"id":"C1","name":"general"}]');

async function open(t: TestContext, answer: RequestListener = ok) {
  const bench = await openBench(t, answer, {}, files);
  const run = (plugin_id: string, input_params: object = {}, credentials: object = { token }) =>
    bench.execute({ bundle_id: 'piece_tea', plugin_id, input_params, credentials });
  return { ...bench, run };
}

test('a piece runs with a placeholder, and the broker sends the secret in its place', async (t) => {
  const { run, server, log } = await open(t);
  const { body } = await run('send', { channel: 'C1', body: 'Tea' });
  assert.deepEqual(body.data.data, { result: [{ id: 'C1', name: 'general' }] }, JSON.stringify(body));
  assert.equal(server.requests[0]?.headers.authorization, `Bearer ${token}`);
  const leaked = await run('leak');
  assert.match(JSON.stringify(leaked.body), /PROVIDER_ERROR/);
  assert.equal(server.requests.length, 1);
  assert.ok(!`${log.join('')}${leaked.text}`.includes(token));
  const written = await run('write');
  assert.equal(
    written.body.data.data.url,
    `data:text/plain;name=a.txt;base64,${Buffer.from('Assam').toString('base64')}`,
  );
});

test('an error answer of the third party is the failure of the piece', async (t) => {
  const { run } = await open(t, (_request, response) => {
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"No such channel"}}');
  });
  const { status, body } = await run('send', { channel: 'C1' });
  assert.equal(status, 422);
  assert.match(JSON.stringify(body), /PROVIDER_REJECTED.*No such channel/);
});

test('runs with other credentials have a process of their own', async (t) => {
  const { run } = await open(t);
  const counts = [];
  for (const key of ['first-token-01', 'first-token-01', 'other-token-02']) {
    counts.push((await run('count', {}, { token: key })).body.data.data.result);
  }
  assert.deepEqual(counts, [1, 2, 1]);
});

test('choices of the third party are read and checked', async (t) => {
  const { executor, server } = await open(t);
  const ask = async (property: string, input_params = {}) => {
    const call = { bundle_id: 'piece_tea', plugin_id: 'send', property, search: 'gen', input_params };
    const { outcome } = await executor.listOptions({ ...call, credentials: { token } }, new AbortController().signal);
    return outcome.kind === 'succeeded' ? outcome.output : outcome;
  };
  const options = [{ label: 'general', value: 'C1' }];
  assert.deepEqual(await ask('channel', { team: 'T' }), { options, placeholder: 'Choose' });
  assert.equal(server.requests[0]?.url, '/channels?team=T&q=gen');
  const odd = {
    options: [
      { label: 'x'.repeat(200), value: 1 },
      { label: '', value: null },
    ],
    placeholder: '',
  };
  assert.deepEqual(await ask('channel', { team: 'odd' }), odd);
  const { options: found } = (await ask('channel', { team: 'large' })) as { options: Array<{ label: string }> };
  assert.deepEqual([found.length, found.at(-1)?.label], [500, 'Gen 4990']);
  const size = { type: 'number', description: 'Size' };
  assert.deepEqual(await ask('fields'), {
    schema: { type: 'object', properties: { size }, required: ['size'], additionalProperties: false },
  });
  const unknown = { kind: 'failed', message: /it has the property map of the unknown type MAP/ };
  assert.partialDeepStrictEqual(Object(await ask('fields', { team: 'odd' })).kind, unknown.kind);
  assert.match(Object(await ask('fields', { team: 'odd' })).message, unknown.message);
  await assert.rejects(ask('body'), { code: 'REQUEST_VALIDATION_ERROR', message: /channel, fields/ });
});
