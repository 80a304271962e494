import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { OutboundRequest, OutboundResponse } from '@quartermaster/plugin-kit';
import type { PieceAuthValue, PieceTask } from '../execution/pieces/child/piece-task.ts';
import { childrenOf, openTestBed } from '../execution/sandbox/testing/test-bed.suite.ts';
import { describePiece } from './describe-piece.ts';
import { openPiece, type PieceTaskWithoutFile } from './piece-process.ts';
import { futureGeneration, generations } from './testing/generations.suite.ts';
import { pieceOf } from './testing/small-pieces.suite.ts';

const bed = await openTestBed({ isolation: 'sandbox' });
after(() => bed[Symbol.asyncDispose]());
const { signal } = new AbortController();
const describe = (source: string) => describePiece(Buffer.from(source), bed.sandbox, signal);

const json: OutboundResponse = { status: 200, headers: { 'content-type': 'application/json' }, text: '{"ok":true}' };

/** Runs the tasks in one process. Returns their outcomes and the requests. */
async function runAll(source: string, tasks: readonly PieceTaskWithoutFile[], answer: OutboundResponse = json) {
  const requests: OutboundRequest[] = [];
  await using piece = await openPiece(Buffer.from(source), bed.sandbox);
  const outcomes = [];
  for (const task of tasks) {
    const send = async (request: OutboundRequest) => {
      requests.push(request);
      return answer;
    };
    outcomes.push(await piece.run(task, signal, send));
  }
  return { outcomes, requests };
}

const call = (action: string, props: object = {}, auth: PieceAuthValue | null = null): PieceTaskWithoutFile => ({
  ...{ mode: 'run', action, props: { ...props }, auth },
});
const returned = (output: unknown) => ({ kind: 'returned', output });
const result = (value: unknown) => returned({ result: value });
const failed = (message: string) => ({ kind: 'failed', message });

for (const [generation, { versions, source, account }] of Object.entries(generations)) {
  test(`a piece of the ${generation} generation of the framework (${versions}) is described, and sends its credential`, async () => {
    const found = await describe(source);
    assert.ok(found.auth.some(({ kind }) => kind === account.kind));
    const [send] = found.actions;
    assert.equal(send?.name, 'send');
    const isCredential = ({ name }: { name: string }) => /key|auth/.test(name);
    assert.ok(send.props.some(({ name }) => name === 'body') && !send.props.some(isCredential));
    const { outcomes, requests } = await runAll(source, [call('send', { body: 'Tea' }, account)]);
    assert.deepEqual(outcomes, [returned({ ok: true })]);
    const headers = { 'content-type': 'text/plain;charset=UTF-8', 'x-key': 'k' };
    assert.deepEqual(requests, [
      { method: 'POST', url: 'https://api.example.com/send', headers, binary: true, body: 'Tea' },
    ]);
  });
}

test('what a piece declares is described, and a kind of authentication that is not known is left out beside a known one', async () => {
  const { auth, actions } = await describe(generations.sixth.source);
  assert.deepEqual(
    auth.map(({ kind, scope }) => [kind, scope]),
    [
      ['OAUTH2', ['send']],
      ['SECRET_TEXT', []],
    ],
  );
  assert.deepEqual(
    actions.map(({ description, classification, idempotent }) => ({ description, classification, idempotent })),
    [{ description: 'Send a text to a person', classification: 'WRITE', idempotent: false }],
  );
});

test('names and descriptions of a piece keep no characters that hide words', async () => {
  const property = `{ type: 'SHORT_TEXT', displayName: 'L\u202eeaf', description: 'A\u200bleaf\\nof tea', required: true, defaultValue: '\u202e' }`;
  const file =
    Buffer.from(`exports.tea = { displayName: 'T\u202eea', description: 'B\u0007rews', getContextInfo: () => ({ version: '1' }),
    _actions: { brew: { name: 'brew', displayName: 'Br\u2066ew', description: '', props: { leaf: ${property} }, run: async () => {} } } };`);
  const found = await describePiece(file, bed.sandbox, new AbortController().signal);
  const [action] = found.actions;
  const [leaf] = action?.props ?? [];
  assert.deepEqual(
    [
      found.displayName,
      found.description,
      action?.displayName,
      leaf?.displayName,
      leaf?.description,
      leaf?.defaultValue,
    ],
    ['T\ufffdea', 'B\ufffdrews', 'Br\ufffdew', 'L\ufffdeaf', 'A\ufffdleaf\nof tea', '\u202e'],
  );
});

const refusals: Readonly<Record<string, readonly [string, RegExp]>> = {
  'a file without a piece': [`exports.helper = 1;`, /exports no piece with actions\. It exports helper/],
  'a later version of the context': [futureGeneration, /version 9 of the context/],
  'an unknown authentication': [
    `exports.p = { displayName: 'P', auth: { type: 'OIDC' }, _actions: {} };`,
    /unknown type OIDC/,
  ],
  'a piece of triggers': [
    `exports.p = { displayName: 'P', _actions: {}, _triggers: { added: {} } };`,
    /has no actions\. Quartermaster does not run its triggers/,
  ],
  'an action that cannot run': [`exports.p = { displayName: 'P', _actions: { a: { name: 'a' } } };`, /action a has no/],
  'a package with dependencies': [`require('axios');`, /needs the package "axios".*bundle pack/],
  'too many actions': [
    `exports.p = { displayName: 'P', actions: Array.from({ length: 501 }, (_, n) => ({ name: 'a' + n, run() {} })) };`,
    /actions is invalid: .*500/,
  ],
  'properties without an end': [
    `const props = {}; props.a = { type: 'ARRAY', properties: props };
     exports.p = { displayName: 'P', _actions: { a: { name: 'a', run() {}, props } } };`,
    /nested deeper/,
  ],
};
test('a piece in an unknown shape is refused by name', async () => {
  for (const [shape, [source, message]] of Object.entries(refusals)) {
    await assert.rejects(describe(source), { code: 'REQUEST_VALIDATION_ERROR', message }, shape);
  }
});

test('a piece that looks for an optional file with a promise continues without it', async () => {
  const source = pieceOf({
    read: `const { readFile } = require('fs/promises');
      const read = (from) => from('/config').then(() => 'read', (error) => error.code);
      return await Promise.all([read(readFile), read(require('node:fs').promises.readFile)]);`,
  });
  const { outcomes } = await runAll(source, [call('read')]);
  assert.deepEqual(outcomes, [result(['ERR_ACCESS_DENIED', 'ERR_ACCESS_DENIED'])]);
});

test('a client that publishes what it does finds no subscribers', async () => {
  const source = pieceOf({
    trace: `const { channel, tracingChannel, hasSubscribers } = require('node:diagnostics_channel');
      const { start, error, hasSubscribers: isTraced } = tracingChannel('calls');
      for (const one of [channel('calls'), start, error]) one.publish({});
      return [isTraced, start.hasSubscribers, hasSubscribers('calls')];`,
  });
  const { outcomes } = await runAll(source, [call('trace')]);
  assert.deepEqual(outcomes, [result([false, false, false])]);
});

test('the HTTP clients of pieces send their requests through the broker', async () => {
  const source = pieceOf({
    callback: `return await new Promise((yes, no) => {
      const https = require('https');
      const request = https.request({ protocol: 'https:', hostname: 'api.example.com', port: 443, path: '/a?b=c', method: 'post', auth: 'me:key',
        headers: { 'Content-Type': 'application/json', 'Content-Length': 2, Accept: ['a', 'b'] }, agent: new https.Agent({ keepAlive: true }) }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part) => { text += part; }).on('end', () => yes([response.statusCode, response.headers['content-type'], text]));
      });
      request.on('error', no).setTimeout(1000, no);
      require('node:stream').Readable.from(['{', '}']).pipe(request);
    });`,
    get: `return await new Promise((yes, no) => require('http').get('http://api.example.com/x', (it) => it.resume().on('end', () => yes(it.statusMessage))).on('error', no));`,
    form: `const form = new FormData(); form.set('file', new Blob([Uint8Array.of(0, 255)]), 'a.bin');
      const answer = await fetch(new URL('https://api.example.com/form'), { method: 'PUT', body: form });
      return [answer.ok, answer.url, answer.headers.get('content-type')];`,
    error: `const answer = await fetch('https://api.example.com/', { signal: AbortSignal.abort(new Error('too late')) }); return answer.status;`,
    method: `await fetch('https://api.example.com/', { method: 'PURGE' });`,
  });
  const actions = ['callback', 'get', 'form', 'error', 'method'];
  const { outcomes, requests } = await runAll(
    source,
    actions.map((action) => call(action)),
  );
  assert.deepEqual(outcomes, [
    result([200, 'application/json', '{"ok":true}']),
    result('OK'),
    result([true, 'https://api.example.com/form', 'application/json']),
    failed('too late'),
    failed('Pieces cannot send requests with the method PURGE.'),
  ]);
  const [callback, get, form] = requests;
  const headers = { 'content-type': 'application/json', accept: 'a, b', authorization: 'Basic bWU6a2V5' };
  const url = 'https://api.example.com/a?b=c';
  assert.deepEqual(callback, { method: 'POST', url, headers, binary: true, body: '{}' });
  assert.equal(get?.url, 'http://api.example.com/x');
  const bytes = Buffer.from(form?.base64 ?? '', 'base64');
  assert.ok(bytes.includes(Buffer.of(0, 255)) && form?.headers?.['content-type']?.startsWith('multipart/form-data; '));
});

test('modules that reach outside of the process can be loaded, and their use fails by name', async () => {
  const source = pieceOf({
    use: `const modules = ['fs', 'node:fs/promises', 'net', 'tls', 'dns', 'child_process', 'worker_threads', 'http2', 'vm', 'v8', 'inspector', 'module'];
      class Socket extends require('net').Socket {}
      const { readFile } = require('fs').promises;
      const uses = [() => new Socket(), () => readFile('/etc/passwd'), () => require('http').createServer(), ...modules.map((name) => () => require(name).run())];
      return await Promise.all(uses.map(async (use) => { try { await use(); return 'used'; } catch (cause) { return cause.message; } }));`,
    files: `const it = await context.files.write({ fileName: 'my tea.txt', data: Buffer.from('Earl Grey') }); return { it };`,
    store: `await context.store.put('a', 1);`,
    server: `return context.server.publicUrl;`,
    stack: `const { stack } = new Error('No tea.'); throw new Error(JSON.stringify({ stack }) + stack);`,
    inputs: `return [propsValue.file.data.toString(), propsValue.file.filename, propsValue.file.extension];`,
  }).replace(
    `'inputs', description: '', requireAuth: false, props: {}`,
    `'inputs', description: '', props: { file: { type: 'FILE' } }`,
  );
  const file = Buffer.from('Assam').toString('base64');
  const { outcomes } = await runAll(source, [
    ...['use', 'files', 'store', 'server', 'stack'].map((action) => call(action)),
    call('inputs', { file, file_filename: 'tea.txt' }),
  ]);
  const [use, ...others] = outcomes;
  const messages = use?.kind === 'returned' ? (use.output as { result: string[] }).result : [];
  assert.equal(messages.length, 15, JSON.stringify(use));
  assert.deepEqual(
    messages.filter((message) => !/^This piece .* Quartermaster does not allow\.$/.test(message)),
    [],
  );
  assert.match(messages[0] ?? '', /opens sockets \(net\.Socket\)/);
  assert.deepEqual(others, [
    returned({ it: `data:text/plain;name=my%20tea.txt;base64,${Buffer.from('Earl Grey').toString('base64')}` }),
    failed('This action uses "store.put" of Activepieces, which Quartermaster does not have.'),
    failed('This action uses "server.publicUrl" of Activepieces, which Quartermaster does not have.'),
    failed('{"stack":"Error: No tea."}Error: No tea.'),
    result(['Assam', 'tea.txt', 'txt']),
  ]);
});

test('a process that served one credential never serves another', async () => {
  await bed.addBundle('counting', {
    'piece.cjs': `globalThis.runs = 0; ${pieceOf({ count: 'return ++globalThis.runs;' })}`,
  });
  const input: Omit<PieceTask, 'file'> & object = call('count');
  const run = (credentialsDigest: string, isolation: 'process' | 'sandbox' = 'sandbox') =>
    bed.run('counting', { handlerPath: 'piece.cjs', piece: { credentialsDigest }, input: { ...input }, isolation });
  const outcomes = [await run('a'), await run('a'), await run('b'), await run('a')];
  assert.deepEqual(outcomes, [1, 2, 1, 3].map(result));
  await assert.rejects(run('a', 'process'), /Pieces run in a sandbox only/);
});

test('processes of other credentials share one budget, and the one that is idle for the longest time ends first', async () => {
  await using small = await openTestBed({ isolation: 'sandbox', maxChildrenPerBundle: 1, maxChildren: 3 });
  await small.addBundle('counting', {
    'piece.cjs': pieceOf({ count: 'return (globalThis.runs = (globalThis.runs ?? 0) + 1);' }),
  });
  const before = childrenOf(process.pid).length;
  const run = async (credentialsDigest: string) => {
    const task = { handlerPath: 'piece.cjs', piece: { credentialsDigest }, input: { ...call('count') } };
    const outcome = await small.run('counting', task);
    assert.ok(childrenOf(process.pid).length - before <= 3, 'more processes than the budget allows');
    return outcome;
  };
  const outcomes = [];
  for (const digest of ['a', 'b', 'c', 'd', 'd', 'a']) outcomes.push(await run(digest));
  assert.deepEqual(outcomes, [1, 1, 1, 1, 2, 1].map(result));
});
