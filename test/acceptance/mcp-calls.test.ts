import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { serve } from '../support/http.ts';
import { connectMcp } from '../support/mcp-clients.ts';
import { share, startService } from '../support/service.ts';

const canary = 'canary-2c9f41ab77';
const encodings = [canary, encodeURIComponent(canary), Buffer.from(canary).toString('base64url')];
const revisions = ['2026-07-28', '2025-11-25'] as const;

/** One service for all tests. `waiting` resolves with the next request that never gets a response. */
const shared = share(async (t) => {
  /** The `Authorization` header of each request. */
  const keys: string[] = [];
  let held = Promise.withResolvers<IncomingMessage>();
  const origin = await serve(t, (request, response) => {
    keys.push(String(request.headers.authorization));
    if (request.url === '/never') held.resolve(request);
    else answerUpstream(request, response);
  });
  const service = await startService(t, {
    settings: {
      BUNDLES: 'test/fixtures/mcp-behaviour',
      EGRESS_OVERRIDES: JSON.stringify({ 'https://watched.example.com': origin }),
    },
  });
  const waiting = () => {
    held = Promise.withResolvers();
    return held.promise;
  };
  return { service, keys, waiting };
});

/** A third party that repeats the key wherever possible. */
function answerUpstream({ url, headers }: IncomingMessage, response: ServerResponse): void {
  const upstreamMessage = `your key is ${headers.authorization}`;
  const answers: Record<string, [number, unknown]> = {
    '/ok': [200, { said: upstreamMessage }],
    '/drifted': [200, { said: 5, also: upstreamMessage }],
    '/list': [200, [upstreamMessage]],
    '/failed': [500, upstreamMessage],
    '/refused': [401, { said: upstreamMessage }],
  };
  const [status, body] = answers[url ?? ''] ?? [404, upstreamMessage];
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

const connect = (
  t: TestContext,
  url: string,
  { revision, headers }: { revision: string; headers?: Record<string, string> },
) => connectMcp(t, url, headers, revision);

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

test('[mcp] credentials in a header or in _meta reach the third party, and appear in no result, error or log', async (t) => {
  const { service, keys } = await shared();
  const ways: Array<{ headers?: Record<string, string>; meta?: Record<string, unknown> }> = [
    { headers: { 'X-Credential-WATCHED_KEY': canary } },
    { headers: { 'X-Credential-Watched-Key': canary } },
    { headers: { 'X-Plugin-Credentials': encoded({ WATCHED_KEY: canary, OTHER_BUNDLE_KEY: 'x' }) } },
    { headers: { 'X-Plugin-Credentials': encoded({ WATCHED_KEY: 'not-this-one', watched: { WATCHED_KEY: canary } }) } },
    { meta: { 'quartermaster/credentials': { WATCHED_KEY: canary } } },
    {
      headers: { 'X-Credential-WATCHED_KEY': 'not-this-one' },
      meta: { 'quartermaster/credentials': { WATCHED_KEY: canary } },
    },
  ];
  for (const revision of revisions) {
    for (const { headers = {}, meta } of ways) {
      const client = await connect(t, `${service.pluginsUrl}/mcp`, { revision, headers });
      for (const path of ['ok', 'drifted', 'list', 'failed', 'refused']) {
        const result = await client.callTool({
          name: 'watched__echo',
          arguments: { path },
          ...(meta === undefined ? {} : { _meta: meta }),
        });
        assert.equal(keys.pop(), `Bearer ${canary}`);
        assert.equal(result.isError === true, path !== 'ok', `${path}: ${JSON.stringify(result)}`);
        for (const form of encodings) assert.ok(!JSON.stringify(result).includes(form), `${path}: ${form}`);
      }
    }
  }
  for (const form of encodings) assert.ok(!service.log().includes(form));
});

test('[mcp] credentials are never arguments, and errors about them do not repeat them', async (t) => {
  const { service, keys } = await shared();
  keys.length = 0;
  const url = `${service.pluginsUrl}/mcp/watched`;
  const refusals: Array<[Record<string, string>, Record<string, unknown>, RegExp]> = [
    [{}, { WATCHED_KEY: canary }, /credentials\/WATCHED_KEY is required/],
    [{}, {}, /X-Credential-<NAME>/],
    [{ 'X-Credential-WATCHED_KEY': 'short' }, {}, /credentials\/WATCHED_KEY/],
    [{ 'X-Credential-WATCHED_KEY': 'x'.repeat(8 * 1024 + 1) }, {}, /credentials.*values have at most 8192 bytes each/],
    [{ 'X-Plugin-Credentials': canary }, {}, /x-plugin-credentials must be a JSON object/],
    [{ 'X-Plugin-Credentials': encoded([canary]) }, {}, /x-plugin-credentials must be a JSON object/],
    [
      { 'X-Credential-WATCHED_KEY': canary },
      { WATCHED_KEY: canary },
      /Unknown parameter "WATCHED_KEY"\. Allowed: path\./,
    ],
    [{ 'X-Credential-WATCHED_KEY': canary }, { path: 5 }, /arguments\/path must be a string; received a number \(5\)/],
  ];
  for (const [headers, input, message] of refusals) {
    const client = await connect(t, url, { revision: '2026-07-28', headers });
    const result = await client.callTool({ name: 'echo', arguments: input });
    assert.equal(result.isError, true);
    assert.match(textOf(result), message);
    assert.equal(result.structuredContent, undefined);
    assert.ok(!JSON.stringify(result).includes(canary), JSON.stringify(result));
  }
  assert.deepEqual(keys, []);
  assert.ok(!service.log().includes(canary));
});

test('[mcp] the text and the structured content of a result agree, a failure has its code, and an unknown tool is an error', async (t) => {
  const { service } = await shared();
  const headers = { 'X-Credential-WATCHED_KEY': canary };
  for (const revision of revisions) {
    const client = await connect(t, `${service.pluginsUrl}/mcp/watched`, { revision, headers });
    const good = await client.callTool({ name: 'echo', arguments: {} });
    assert.deepEqual(JSON.parse(textOf(good)), good.structuredContent);
    assert.match(String(Reflect.get(Object(good._meta?.['quartermaster/run']), 'run_id')), /^xrun/);

    const failed = await client.callTool({ name: 'echo', arguments: { path: 'failed' } });
    assert.equal(Reflect.get(Object(failed._meta?.['quartermaster/error']), 'code'), 'PROVIDER_ERROR');
    assert.match(textOf(failed), /status 500/);

    const drifted = await client.callTool({ name: 'echo', arguments: { path: 'drifted' } });
    assert.deepEqual(JSON.parse(textOf(drifted, 1)).said, 5);
    assert.ok(Array.isArray(drifted._meta?.['quartermaster/output-violations']));

    await assert.rejects(client.callTool({ name: 'nothing', arguments: {} }), { code: -32602 });
  }
  const qr = await connect(t, `${service.pluginsUrl}/mcp/qr_code_generator`, { revision: '2025-11-25' });
  const picture = await qr.callTool({ name: 'generate_qr_code', arguments: { text: 'hello' } });
  const [text, image, ...links] = picture.content;
  assert.ok(image?.type === 'image' && image.mimeType === 'image/png', 'a data: URL of an image is an image');
  assert.deepEqual(
    links.map((link) => link.type === 'resource_link' && link.mimeType),
    ['image/png', 'image/svg+xml'],
  );
  assert.ok(!JSON.stringify([picture.structuredContent, text]).includes(image.data.slice(0, 100)), 'no base64 in text');
  // The client has validated the structure, whose `url` must begin like a data: URL.
  assert.match(
    String(Reflect.get(picture.structuredContent ?? {}, 'url')),
    /^data:image\/png;base64,\(image\/png, \d+ bytes\)$/,
    'without a key there is no id',
  );
});

test('[mcp] a disconnect of the client stops its run, and a client that asks for progress receives it', async (t) => {
  const { service, waiting } = await shared();
  for (const [ended, revision] of revisions.entries()) {
    const held = waiting();
    const headers = { 'X-Credential-WATCHED_KEY': canary };
    const client = await connect(t, `${service.pluginsUrl}/mcp/watched`, { revision, headers });
    const leaving = new AbortController();
    const { promise: progressed, resolve } = Promise.withResolvers<unknown>();
    const call = client.callTool({ name: 'wait', arguments: {} }, { signal: leaving.signal, onprogress: resolve });
    call.catch(() => {});
    const request = await held;
    assert.deepEqual(await progressed, { progress: 0.5, total: 1, message: 'waiting' });
    const stopped = once(request.socket, 'close');
    leaving.abort();
    // Before the revisions of 2026, cancelling is a separate message. Only the end of the transport stops the run.
    await client.close();
    await assert.rejects(call);
    await stopped;
    // The time limit of the run would also have ended it, but with another outcome.
    await settled(
      t,
      `${service.pluginsUrl}/metrics`,
      new RegExp(`executions_total\\{[^}]*plugin="wait"[^}]*outcome="cancelled"\\} ${ended + 1}`),
    );
  }
});

test('[mcp] the same idempotency key runs a tool once', async (t) => {
  const { service, keys } = await shared();
  keys.length = 0;
  const headers = { 'X-Credential-WATCHED_KEY': canary };
  const client = await connect(t, `${service.pluginsUrl}/mcp/watched`, { revision: '2026-07-28', headers });
  const call = (path: string, key: unknown) =>
    client.callTool({ name: 'echo', arguments: { path }, _meta: { 'quartermaster/idempotency-key': key } });
  const first = await call('ok', 'key-1');
  assert.deepEqual(await call('ok', 'key-1'), first);
  assert.equal(keys.length, 1);
  const other = await call('list', 'key-1');
  assert.equal(Reflect.get(Object(other._meta?.['quartermaster/error']), 'code'), 'REQUEST_VALIDATION_ERROR');
  const malformed = await call('ok', 7);
  assert.equal(Reflect.get(Object(malformed._meta?.['quartermaster/error']), 'code'), 'REQUEST_VALIDATION_ERROR');
  assert.equal(keys.length, 1);
});

async function settled(t: TestContext, url: string, pattern: RegExp): Promise<void> {
  for (;;) {
    const text = await (await fetch(url, { signal: t.signal })).text();
    if (pattern.test(text)) return;
    assert.doesNotMatch(text, /outcome="timed_out"/);
  }
}

function textOf(result: { content: ReadonlyArray<{ type: string; text?: string }> }, index = 0): string {
  return result.content[index]?.text ?? '';
}
