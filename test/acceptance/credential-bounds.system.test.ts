import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { json, limitedService } from '../support/limits.ts';

/** More credentials than a request may hold. All are optional, so that declared members alone can exceed each bound. */
const declared = Array.from({ length: 33 }, (_, index) => `c${String(index).padStart(2, '0')}`);
const undeclaredSecret = 'undeclared-0123456789-undeclared';

const bundles = await mkdtemp(join(tmpdir(), 'quartermaster-test-'));
await mkdir(join(bundles, 'bounded'));
await writeFile(
  join(bundles, 'bounded', 'bundle.yaml'),
  `id: bounded
version: 1.0.0
name: Bounded
description: Declares many credentials.
provider: Example
developer: Quartermaster
hosts: [api.example.com]
credentials_schema:
  type: object
  additionalProperties: false
  properties:
${declared.map((name) => `    ${name}: {type: string, description: One., x-secret: true}`).join('\n')}
inject:
  - {in: header, name: X-Key, credential: c00}
verify:
  request: {url: 'https://api.example.com/verify'}
`,
);
await writeFile(
  join(bundles, 'bounded', 'ask.yaml'),
  `id: ask
name: Ask
description: Asks.
effects: read
idempotent: true
input_schema: {type: object, additionalProperties: false, properties: {}}
output_schema: {type: object, properties: {said: {type: string, description: What was said.}}}
request: {url: 'https://api.example.com/ask'}
response: {output: '{said: body.said}'}
`,
);
const upstream = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ said: undeclaredSecret }));
});
upstream.listen(0, '127.0.0.1');
await once(upstream, 'listening');
after(async () => {
  upstream.close();
  await rm(bundles, { recursive: true, force: true });
});
const origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
const limited = limitedService({
  settings: { BUNDLES: bundles, EGRESS_OVERRIDES: JSON.stringify({ 'https://api.example.com': origin }) },
});

type Credentials = Readonly<Record<string, unknown>>;

interface Outcome {
  /** The error code; null when the credentials are accepted. */
  readonly code: string | null;
  readonly text: string;
}

/** A way to send credentials. `mostBytes` is present where another limit, such as that of headers, applies first. */
interface Way {
  readonly send: (credentials: Credentials) => Promise<Outcome>;
  readonly mostBytes?: number;
}

let profiles = 0;
const base64 = (credentials: Credentials) => Buffer.from(JSON.stringify(credentials)).toString('base64url');
const runRequest = { bundle_id: 'bounded', plugin_id: 'ask', input_params: {} };

async function ask(path: string, body: object, init: { headers?: Record<string, string> } = {}) {
  const request = json(body);
  const headers = { ...(request.headers as Record<string, string>), ...init.headers };
  const answer = await limited.send(`${limited.service.pluginsUrl}${path}`, { ...request, headers });
  return { code: answer.code, text: JSON.stringify(answer.body), body: answer.body };
}

/** Runs the plugin with a stored profile. */
async function askWithProfile(name: string): Promise<Outcome> {
  return await ask('/v1/execute', { ...runRequest, credentials: { $profile: name } });
}

async function createProfile(credentials: Credentials): Promise<Outcome & { readonly name: string }> {
  profiles += 1;
  const name = `profile-${profiles}`;
  return { ...(await ask('/v1/credential_profiles', { name, bundle_id: 'bounded', credentials })), name };
}

/** Calls the tool over MCP. The error of a failed call is in its result. */
async function callTool(meta: object, headers: Record<string, string> = {}): Promise<Outcome> {
  const params = { name: 'ask', arguments: {}, _meta: meta };
  const accept = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25', ...headers };
  const { body, text } = await ask(
    '/mcp/bounded',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    { headers: accept },
  );
  const { result } = body;
  assert.ok(result !== undefined, text);
  return { code: result._meta['quartermaster/error']?.code ?? null, text };
}

const inHeaders = 10_000;
const ways: Readonly<Record<string, Way>> = {
  execute: { send: (credentials) => ask('/v1/execute', { ...runRequest, credentials }) },
  'execute in the background': {
    send: (credentials) => ask('/v1/execute', { ...runRequest, credentials }, { headers: { prefer: 'respond-async' } }),
  },
  'execute directly': {
    send: (credentials) =>
      ask('/v1/bundles/bounded/plugins/ask/execute', {}, { headers: { 'x-plugin-credentials': base64(credentials) } }),
    mostBytes: inHeaders,
  },
  verify_credentials: {
    send: (credentials) => ask('/v1/verify_credentials', { bundle_id: 'bounded', credentials }),
  },
  'a new profile': {
    send: async (credentials) => {
      const created = await createProfile(credentials);
      return created.code === null ? await askWithProfile(created.name) : created;
    },
  },
  'an updated profile': {
    send: async (credentials) => {
      const { name } = await createProfile({ c00: 'before' });
      const updated = await ask(`/v1/credential_profiles/${name}`, { credentials });
      return updated.code === null ? await askWithProfile(name) : updated;
    },
  },
  'MCP headers': {
    send: (credentials) => callTool({}, { 'x-plugin-credentials': base64(credentials) }),
    mostBytes: inHeaders,
  },
  'MCP metadata': { send: (credentials) => callTool({ 'quartermaster/credentials': credentials }) },
  'MCP metadata of a bundle': {
    send: (credentials) => callTool({ 'quartermaster/credentials': { bounded: credentials } }),
  },
};

/** Returns credentials with this number of members, each of this size. */
const members = (count: number, bytes: number) =>
  Object.fromEntries(declared.slice(0, count).map((name) => [name, 'k'.repeat(bytes)]));

for (const [way, { send, mostBytes = Number.POSITIVE_INFINITY }] of Object.entries(ways)) {
  test(`credentials at each bound are accepted by ${way}, and refused above it`, async () => {
    const count = 32;
    const one = 8192;
    const all = 32_768;
    const each = all / count - 'c00'.length;
    const cases: Array<readonly [accepted: Credentials, refused: Credentials]> = [
      [members(count, 1), members(count + 1, 1)],
      [members(1, one), members(1, one + 1)],
      [members(count, each), { ...members(count, each), c00: 'k'.repeat(each + 1) }],
    ];
    for (const [accepted, refused] of cases) {
      if (JSON.stringify(refused).length > mostBytes) continue;
      const [below, above] = [await send(accepted), await send(refused)];
      assert.equal(below.code, null, below.text);
      assert.equal(above.code, 'REQUEST_VALIDATION_ERROR', above.text);
      assert.ok(!above.text.includes('kk'));
    }
  });

  test(`a credential that the bundle does not declare is neither stored, sent nor redacted by ${way}`, async () => {
    for (const undeclared of [undeclaredSecret, { a: [undeclaredSecret] }]) {
      const { code, text } = await send({ c00: 'key-0123456789', undeclared });
      assert.equal(code, null, text);
      if (!['verify_credentials', 'execute in the background'].includes(way))
        assert.ok(text.includes(undeclaredSecret), text);
    }
  });
}

for (const [way, { send, mostBytes = Number.POSITIVE_INFINITY }] of Object.entries(ways)) {
  test(`the bounds of credentials count members that the bundle does not declare, by ${way}`, async () => {
    const count = 32;
    const one = 8192;
    const undeclared = (length: number) =>
      Object.fromEntries(Array.from({ length }, (_, index) => [`undeclared${index}`, 'k']));
    const cases: Array<readonly [accepted: Credentials, refused: Credentials]> = [
      [undeclared(count), undeclared(count + 1)],
      [{ undeclared: 'k'.repeat(one) }, { undeclared: 'k'.repeat(one + 1) }],
    ];
    for (const [accepted, refused] of cases) {
      if (JSON.stringify(refused).length > mostBytes) continue;
      const [below, above] = [await send(accepted), await send(refused)];
      assert.equal(below.code, null, below.text);
      assert.equal(above.code, 'REQUEST_VALIDATION_ERROR', above.text);
    }
  });
}

/** Requests for which both addresses took seconds to minutes when all encodings were computed before a run. */
const amplifying: ReadonlyArray<
  readonly [what: string, bundle: string, credentials: Credentials, code: string | null]
> = [
  ...[100, 1000, 3000, 20_000].map(
    (count) => [`${count} members`, 'calculator', expanding(count), 'REQUEST_VALIDATION_ERROR'] as const,
  ),
  ...[100_000, 500_000].map(
    (length) =>
      [`${length} quotation marks`, 'bounded', { c00: '"'.repeat(length) }, 'REQUEST_VALIDATION_ERROR'] as const,
  ),
  ['32 members of a bundle without credentials', 'calculator', expanding(32), null],
  ['8 KiB of quotation marks', 'bounded', { c01: '"'.repeat(8192) }, null],
  [
    '32 KiB of quotation marks',
    'bounded',
    Object.fromEntries(declared.slice(1, 33).map((name) => [name, '"'.repeat(1000)])),
    null,
  ],
  [
    '32 KiB of U+FDFA',
    'bounded',
    Object.fromEntries(declared.slice(1, 5).map((name) => [name, '\ufdfa'.repeat(2720)])),
    null,
  ],
];

function expanding(count: number): Credentials {
  const value = (index: number) => `"<&'/+ é${String.fromCodePoint(0x4e00 + (index % 20_000))}`;
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value(index)]));
}

for (const [what, bundle, credentials, expected] of amplifying) {
  test(`credentials of ${what} (${bundle}) are answered, and so are requests beside them`, async () => {
    const request =
      bundle === 'calculator'
        ? { bundle_id: bundle, plugin_id: 'evaluate', input_params: { expression: '1+1' }, credentials }
        : { ...runRequest, credentials };
    const answer = ask('/v1/execute', request);
    const [{ code, text }, { status }] = await Promise.all([
      answer,
      fetch(`${limited.service.filesUrl}/v1/health_check`),
    ]);
    assert.deepEqual([code, status], [expected, 200], text);
  });
}
