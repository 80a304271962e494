import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { ExecuteResult, OutputArtifact } from '@quartermaster/contract';
import { endedRun } from '../support/client.ts';
import { send, serve } from '../support/http.ts';
import { connectMcp } from '../support/mcp-clients.ts';
import { runCommand } from '../support/run-command.ts';
import { type Ending, type StartedService, share, startService, temporaryFolder } from '../support/service.ts';
import { writeBundle } from '../support/write-bundle.ts';

const mib = 2 ** 20;
const picture = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(5 * mib)]);
const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(40_000)]);
const credentials = { OPENAI_API_KEY: 'sk-canary-1234567890abcdef' };

/** Stands for the API of OpenAI and for a web server. Counts the requests, because each of them is paid for. */
async function startThirdParty(t: Ending) {
  let requests = 0;
  const origin = await serve(t, (request, response) => {
    requests += 1;
    if (request.url === '/document') return void response.setHeader('content-type', 'application/pdf').end(pdf);
    if (request.url === '/text') return void response.end(JSON.stringify({ text: 'a text '.repeat(200_000) }));
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        data: [{ b64_json: picture.toString('base64') }],
        output_format: 'png',
        usage: { total_tokens: 1 },
      }),
    );
  });
  return { url: origin, requests: () => requests };
}

const handler = `export const run = ({ what }) => {
  if (what === 'many') return { values: Array.from({ length: 300_000 }, (_, index) => index) };
  if (what === 'text') return { values: ['x'.repeat(3 * 2 ** 20)], note: 'short' };
  return { values: ['x'.repeat(17 * 2 ** 20)] };
};`;

const manifest = `id: make
name: Make
description: Returns a large output.
handler: handler.ts
input_schema:
  type: object
  additionalProperties: false
  required: [what]
  properties: {what: {type: string, maxLength: 100, description: What to return.}}
output_schema:
  type: object
  properties: {values: {type: array, description: The values., items: {description: A value.}}, note: {type: string, description: A note.}}
effects: read
idempotent: true
`;

async function openWorld(t: Ending, settings: Record<string, string> = {}) {
  const upstream = await startThirdParty(t);
  const overrides = { 'https://api.openai.com': upstream.url, 'https://api.example.com': upstream.url };
  const files = { 'handler.ts': handler, 'make.yaml': manifest };
  const bundles = await writeBundle(await temporaryFolder(t), 'large', files);
  const service = await startService(t, {
    settings: {
      ...{ EGRESS_OVERRIDES: JSON.stringify(overrides), BUNDLE_HOSTS: '{"http_request": ["api.example.com"]}' },
      ...{ BUNDLES: bundles, ISOLATION: 'process', ...settings },
    },
  });
  return { service, requests: upstream.requests };
}

const shared = share((t) => openWorld(t));
const sharedWithKeys = share((t) => openWorld(t, { PLUGINS_KEY: 'required' }));

type Wanted = readonly [bundle: string, plugin: string, input: object, credentials?: object];

async function execute(
  service: StartedService,
  wanted: Wanted,
  headers: Record<string, string> = {},
  key: string | null = service.key,
) {
  const [bundle_id, plugin_id, input_params, given = {}] = wanted;
  const json = { bundle_id, plugin_id, input_params, credentials: given };
  const sent = await send(`${service.pluginsUrl}/v1/execute`, { key, json, headers });
  return { ...sent, result: sent.body.data as ExecuteResult };
}

const image: Wanted = ['openai_images', 'generate_image', { prompt: 'A fox', model: 'gpt-image-1' }, credentials];
const document: Wanted = [
  'http_request',
  'http_get',
  { url: 'https://api.example.com/document' },
  { HTTP_HOST: 'api.example.com' },
];
const chart: Wanted = ['chart_maker', 'make_pie_chart', { labels: ['a', 'b'], values: [1, 2] }];
const code: Wanted = ['qr_code_generator', 'generate_qr_code', { text: 'https://example.com/' }];

async function download({ file_url, sha256, bytes }: OutputArtifact): Promise<Response> {
  const response = await fetch(file_url);
  assert.equal(response.status, 200);
  const content = Buffer.from(await response.clone().arrayBuffer());
  assert.equal(content.length, bytes);
  assert.equal(createHash('sha256').update(content).digest('hex'), sha256);
  return response;
}

test('[artifacts] a chart, a QR code, a picture of 5 MB and a PDF have a signed URL with type, bytes and hash', async () => {
  const { service, requests } = await shared();
  const small = [
    [chart, ['image/svg+xml', 'image/svg+xml']],
    [code, ['image/png', 'image/svg+xml']],
    [document, ['application/pdf']],
  ] as const;
  for (const [wanted, types] of small) {
    const { status, text, result } = await execute(service, wanted);
    assert.equal(status, 200, text);
    const { artifacts = [], data } = result;
    assert.deepEqual(
      artifacts.map((one) => one.media_type),
      types,
    );
    assert.ok(!text.includes('artifact:'), 'a small output stays as it is');
    for (const artifact of artifacts) {
      await download(artifact);
      assert.ok(Reflect.has(data as object, artifact.path.slice(1)), artifact.path);
    }
  }
  const { status, text, result } = await execute(service, image);
  assert.equal(status, 200, text.slice(0, 500));
  assert.ok(text.length < 2000, `the answer has ${text.length} characters`);
  const [artifact] = result.artifacts ?? [];
  assert.ok(artifact);
  assert.deepEqual(
    [artifact.media_type, artifact.bytes, artifact.path],
    ['image/png', picture.length, '/image_base64'],
  );
  assert.equal(Reflect.get(result.data as object, 'image_base64'), `artifact:${artifact.artifact_id}`);
  assert.equal(result.output_violations, undefined);
  await download(artifact);
  assert.equal(requests(), 2);
});

test('[artifacts] a signed URL is a download that no browser runs, with ranges, and opens nothing else', async () => {
  const { service } = await sharedWithKeys();
  const { result } = await execute(service, image);
  const [artifact] = result.artifacts ?? [];
  assert.ok(artifact);
  const { headers } = await download(artifact);
  assert.equal(headers.get('content-type'), 'image/png');
  assert.match(headers.get('content-disposition') ?? '', /^attachment; filename="generate_image\.png"/);
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.match(headers.get('content-security-policy') ?? '', /^sandbox; default-src 'none'/);
  const part = await fetch(artifact.file_url, { headers: { range: 'bytes=1-3' } });
  assert.deepEqual([part.status, await part.text()], [206, 'PNG']);
  const url = new URL(artifact.file_url);
  const { result: second } = await execute(service, code);
  const other = second.artifacts?.[0]?.artifact_id ?? '';
  const changed = [
    artifact.file_url.replace(artifact.artifact_id, other),
    ...[
      ['expires', String(artifact.expires_timestamp + 1)],
      ['project', 'proj0mwq7qe92rz5d1vkc40m'],
      ['signature', 'f'.repeat(32)],
    ].map(([name = '', value = '']) => {
      const copy = new URL(url);
      copy.searchParams.set(name, value);
      return copy.href;
    }),
  ];
  for (const href of changed) assert.equal((await fetch(href)).status, 404, href);
  assert.equal((await fetch(`${url.origin}${url.pathname}`)).status, 422);
});

test('[artifacts] an artifact belongs to its project: another one neither reads nor deletes it, nor is it a file', async () => {
  const { service } = await sharedWithKeys();
  const { result } = await execute(service, code);
  const [artifact] = result.artifacts ?? [];
  assert.ok(artifact);
  const project = (await runCommand(service, 'project', 'create', 'other')).output.trim();
  const key = (await runCommand(service, 'key', 'create', project, '--name', 'other')).output.trim();
  const url = `${service.pluginsUrl}/v1/artifacts/${artifact.artifact_id}`;
  assert.equal((await send(url, { key })).status, 404);
  assert.equal((await send(url, { method: 'DELETE', key })).status, 404);
  assert.equal((await send(url)).status, 401);
  const { path: _, ...facts } = artifact;
  assert.deepEqual((await send(url, { key: service.key })).body.data, facts);
  const asFile = `${service.filesUrl}/v1/files/${artifact.artifact_id}`;
  for (const href of [asFile, `${asFile}/content`]) assert.equal((await send(href, { key: service.key })).status, 404);
  assert.equal((await send(asFile, { method: 'DELETE', key: service.key })).status, 404);
  assert.equal((await send(url, { method: 'DELETE', key: service.key })).status, 200);
  assert.equal((await fetch(artifact.file_url)).status, 404, 'a signed URL ends with its artifact');
});

test('[artifacts] a caller without a key gets signed URLs, but no id, and an id opens nothing without a key', async (t) => {
  const { service } = await shared();
  const { status, text, result } = await execute(service, image, {}, null);
  assert.equal(status, 200, text.slice(0, 500));
  const [artifact] = result.artifacts ?? [];
  assert.ok(artifact);
  assert.equal(artifact.artifact_id, '');
  assert.equal(Reflect.get(result.data as object, 'image_base64'), `(image/png, ${picture.length} bytes)`);
  await download(artifact);
  const [, , , id = ''] = new URL(artifact.file_url).pathname.split('/');
  assert.match(id, /^arti/);
  for (const method of ['GET', 'DELETE']) {
    const url = `${service.pluginsUrl}/v1/artifacts/${id}`;
    assert.equal((await fetch(url, { method })).status, 401, method);
    assert.equal((await send(url, { method, key: service.key })).status, 404, `${method} with a key of a project`);
  }
  await download(artifact);
  const client = await connectMcp(t, `${service.pluginsUrl}/mcp/qr_code_generator`);
  const called = await client.callTool({ name: 'generate_qr_code', arguments: { text: 'https://example.com/' } });
  const content = called.content as Array<{ type: string }>;
  assert.ok(!JSON.stringify(called).includes('artifact:'), JSON.stringify(called).slice(0, 2000));
  assert.deepEqual(
    content.map(({ type }) => type),
    ['text', 'image', 'resource_link', 'resource_link'],
  );
});

test('[artifacts] no result is lost: large texts and values are stored, and a full quota answers them as they are', async (t) => {
  const { service } = await shared();
  const text = await execute(service, ['large', 'make', { what: 'text' }]);
  assert.equal(text.status, 200, text.text.slice(0, 500));
  const [long] = text.result.artifacts ?? [];
  assert.ok(long);
  assert.deepEqual(text.result.data, { values: [`artifact:${long.artifact_id}`], note: 'short' });
  assert.deepEqual([long.path, long.media_type, long.bytes], ['/values/0', 'text/plain', 3 * mib]);
  await download(long);
  const many = await execute(service, ['large', 'make', { what: 'many' }]);
  const [whole] = many.result.artifacts ?? [];
  assert.ok(whole, many.text.slice(0, 500));
  assert.deepEqual([whole.path, whole.media_type], ['', 'application/json']);
  assert.equal(many.result.data, `artifact:${whole.artifact_id}`);
  const values = (await (await download(whole)).json()) as { values: number[] };
  assert.equal(values.values.length, 300_000);
  const over = await execute(service, ['large', 'make', { what: 'more than the limit' }]);
  assert.match(over.text, /The output is over 16777216 bytes of JSON/);

  const full = await openWorld(t, { MAX_PROJECT_BYTES: '1000' });
  const { status, result } = await execute(full.service, image);
  assert.deepEqual([status, result.artifacts], [200, undefined]);
  assert.equal(Reflect.get(result.data as object, 'image_base64'), picture.toString('base64'));
  assert.equal(full.requests(), 1);
  const kept = await execute(full.service, ['large', 'make', { what: 'many' }]);
  assert.equal((kept.result.data as { values: number[] }).values.length, 300_000);
});

test('[artifacts] over MCP, media that a full project cannot store are in the result of the paid run', async (t) => {
  const { service, requests } = await openWorld(t, { MAX_PROJECT_BYTES: '100' });
  const headers = {
    authorization: `Bearer ${service.key}`,
    'X-Credential-OPENAI_API_KEY': credentials.OPENAI_API_KEY,
  };
  const client = await connectMcp(t, `${service.pluginsUrl}/mcp?bundles=openai_images,chart_maker`, headers);
  const large = await client.callTool({ name: 'openai_images__generate_image', arguments: image[2] as never });
  assert.notEqual(large.isError, true);
  const held = large.content.find(({ type }) => type === 'resource');
  const resource: unknown = held?.type === 'resource' ? held.resource : undefined;
  const uri = 'output:/image_base64';
  assert.deepEqual(resource, { uri, mimeType: 'image/png', blob: picture.toString('base64') });
  assert.equal(Reflect.get(large.structuredContent ?? {}, 'image_base64'), uri);
  assert.ok(JSON.stringify(large).length < picture.length * 1.4, 'the picture is in the result once');
  const note = large.content.at(-1);
  assert.match(note?.type === 'text' ? note.text : '', /not stored, because a limit .* Do not run the plugin again\.$/);
  assert.equal(requests(), 1);
  const drawn = await client.callTool({ name: 'chart_maker__make_pie_chart', arguments: chart[2] as never });
  assert.match(String(Reflect.get(drawn.structuredContent ?? {}, 'svg')), /^<svg /);
});

test('[artifacts] the same request with an Idempotency-Key and an asynchronous run have the artifacts of the run', async () => {
  const { service, requests } = await shared();
  const before = requests();
  const headers = { 'idempotency-key': 'picture-1' };
  const first = await execute(service, image, headers);
  const second = await execute(service, image, headers);
  assert.equal(first.text, second.text);
  assert.equal(requests(), before + 1);
  await download(second.result.artifacts?.[0] as OutputArtifact);
  const accepted = await execute(service, image, { prefer: 'respond-async' });
  const { result } = await endedRun(service.client, (accepted.result as unknown as { run_id: string }).run_id);
  const [artifact] = result?.artifacts ?? [];
  assert.ok(artifact);
  assert.equal(artifact.run_id, result?.run_id);
  await download(artifact);
});
