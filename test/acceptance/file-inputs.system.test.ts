import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { send } from '../support/http.ts';
import { askMcp, callTool } from '../support/mcp-knowledge.ts';
import { runCommand } from '../support/run-command.ts';
import {
  type Ending,
  logLines,
  type StartedService,
  share,
  startService,
  temporaryFolder,
} from '../support/service.ts';
import { writeBundle } from '../support/write-bundle.ts';

const mib = 2 ** 20;
const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(3 * mib)]);

const handler = `import { createHash } from 'node:crypto';
const digest = (text) => createHash('sha256').update(Buffer.from(text, 'base64')).digest('hex');
export const run = ({ file, picture, list = [], text }) =>
  ({ digests: [file, picture, ...list].filter((one) => one !== undefined).map(digest), text: text ?? null });`;

const manifest = `id: digest
name: Digest
description: Returns the SHA-256 of files.
handler: handler.ts
input_schema:
  type: object
  additionalProperties: false
  properties:
    file: {type: string, contentEncoding: base64, minLength: 40, pattern: "^[A-Za-z0-9+/]+={0,2}$", description: A file.}
    picture: {type: string, contentEncoding: base64, contentMediaType: image/png, description: A picture.}
    list: {type: array, description: Files., items: {$ref: "#/$defs/file"}}
    text: {type: string, description: A text.}
  $defs: {file: {type: string, contentEncoding: base64}}
output_schema:
  type: object
  properties:
    digests: {type: array, description: The digests., items: {type: string}}
    text: {type: [string, "null"], description: The text.}
effects: read
idempotent: true
`;

async function openService(t: Ending): Promise<StartedService> {
  return await startService(t, {
    settings: {
      BUNDLES: await writeBundle(await temporaryFolder(t), 'digests', {
        'handler.ts': handler,
        'digest.yaml': manifest,
      }),
      ISOLATION: 'process',
    },
  });
}

const shared = share(openService);

async function upload({ filesUrl }: StartedService, key: string, content: Uint8Array): Promise<string> {
  const form = new FormData();
  form.set('purpose', 'record_file');
  form.set('file', new Blob([Uint8Array.from(content)]), 'report.pdf');
  const sent = await send(`${filesUrl}/v1/files`, { key, method: 'POST', body: form });
  assert.equal(sent.status, 200);
  return sent.body.data.file_id;
}

const body = (input_params: object) => ({ bundle_id: 'digests', plugin_id: 'digest', input_params, credentials: {} });

/** @param key null for a request without one */
async function execute({ pluginsUrl, key: first }: StartedService, input: object, key: string | null = first) {
  const sent = await send(`${pluginsUrl}/v1/execute`, { key, json: body(input) });
  return { ...sent, data: sent.body.data?.data };
}

async function createArtifact({ client }: StartedService) {
  const { artifacts } = await client.plugins.run('qr_code_generator/generate_qr_code', {
    text: 'https://example.com/',
  });
  const artifact = artifacts?.find(({ media_type }) => media_type === 'image/png');
  assert.ok(artifact);
  return artifact;
}

const projectOf = async ({ client }: StartedService) =>
  (await client.projects.list()).data[0]?.project_id ?? assert.fail('no project');

async function createKey({ filesUrl, key }: StartedService, project: string, scopes: readonly string[]) {
  const json = { name: scopes.join(' '), scopes };
  return (await send(`${filesUrl}/v1/projects/${project}/keys`, { key, json })).body.data.key;
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

test('[file-inputs] an input is checked before its files are read', async () => {
  const service = await shared();
  const file = 'file:file0mwq7qe92rz5d1vkc40m';
  const wrong = await execute(service, { file, text: 5 });
  assert.deepEqual([wrong.status, wrong.code], [422, 'REQUEST_VALIDATION_ERROR'], wrong.text);
  assert.match(wrong.message, /input_params\/text must be a string/);
  assert.deepEqual((await execute(service, { file })).code, 'OBJECT_NOT_FOUND');
  // A picture in the request may be longer than other texts to which a pattern applies.
  const content = randomBytes(90_000);
  const sent = await execute(service, { file: content.toString('base64') });
  assert.deepEqual(sent.data?.digests, [sha256(content)], sent.text);
  assert.equal((await execute(service, { file: `${content.toString('base64')}!` })).status, 422);
});

test('[file-inputs] an input names a file or an artifact by REST, directly, asynchronously and over MCP', async (t) => {
  const service = await openService(t);
  const { pluginsUrl, key } = service;
  const file = `file:${await upload(service, key, pdf)}`;
  const picture = await createArtifact(service);
  const input = { file, picture: `artifact:${picture.artifact_id}`, list: [file], text: file };
  const expected = { digests: [sha256(pdf), picture.sha256, sha256(pdf)], text: file };

  const placeholder = await execute(service, { picture: `data:image/png;base64,artifact:${picture.artifact_id}` });
  assert.deepEqual(placeholder.data?.digests, [picture.sha256], placeholder.text);
  const capital = await execute(service, { picture: ` ARTIFACT:${picture.artifact_id}` });
  assert.deepEqual(capital.data?.digests, [picture.sha256], capital.text);
  const { status, text, data } = await execute(service, input);
  assert.equal(status, 200, text);
  assert.deepEqual(data, expected, 'a text that is no file content stays as it is');

  const direct = await send(`${pluginsUrl}/v1/bundles/digests/plugins/digest/execute`, { key, json: input });
  assert.deepEqual(direct.body, expected);

  const accepted = await send(`${pluginsUrl}/v1/execute`, {
    ...{ key, json: body(input), headers: { prefer: 'respond-async' } },
  });
  assert.equal(accepted.status, 202);
  assert.deepEqual((await service.client.runs.wait(accepted.body.data.run_id)).result?.data, expected);

  const called = await callTool(`${pluginsUrl}/mcp/digests`, key, 'digest', input);
  assert.deepEqual(called.structuredContent, expected);

  const { text: metrics } = await send(`${pluginsUrl}/metrics`, { key });
  assert.match(metrics, /^quartermaster_input_files_total\{kind="file",result="passed"\} 8$/m);
  assert.match(metrics, /^quartermaster_input_files_total\{kind="artifact",result="passed"\} 6$/m);
  const bytes = 4 * (2 * pdf.length + picture.bytes) + 2 * picture.bytes;
  assert.match(metrics, new RegExp(`^quartermaster_input_file_bytes_total ${bytes}$`, 'm'));
  await service.stop();
  const events = logLines(service, 'stored files passed to plugin');
  assert.equal(events.length, 6);
  const { event, project, files, artifacts } = events[2] ?? {};
  assert.equal(event, 'files_passed_to_plugin');
  assert.match(String(project), /^proj/);
  assert.deepEqual([files, artifacts], [[file.slice(5), file.slice(5)], [picture.artifact_id]]);
});

test('[file-inputs] only a key of the project with the scope files can name files; ids of other projects are treated as unknown', async () => {
  const service = await shared();
  const file_id = await upload(service, service.key, pdf);
  const { artifact_id } = await createArtifact(service);
  const other = (await runCommand(service, 'project', 'create', 'other')).output.trim();
  const foreign = (
    await runCommand(service, 'key', 'create', other, '--name', 'foreign', '--scopes', 'files,plugins')
  ).output.trim();
  const projectId = await projectOf(service);
  const plugins = await createKey(service, projectId, ['plugins']);
  const collections = await createKey(service, projectId, ['plugins', 'collections']);
  const both = await createKey(service, projectId, ['plugins', 'files']);
  const inputs = [{ file: `file:${file_id}` }, { list: [`artifact:${artifact_id}`] }];
  const matrix: ReadonlyArray<readonly [who: string, key: string | null, status: number, code: string | null]> = [
    ['no key', null, 401, 'APIKEY_VALIDATION_FAILED'],
    ['plugins', plugins, 403, 'PERMISSION_DENIED'],
    ['plugins and collections', collections, 403, 'PERMISSION_DENIED'],
    ['plugins and files', both, 200, null],
    ['another project', foreign, 404, 'OBJECT_NOT_FOUND'],
  ];
  for (const [who, key, status, code] of matrix) {
    for (const input of inputs) {
      const answer = await execute(service, input, key);
      assert.deepEqual([answer.status, answer.code], [status, code], `${who}: ${answer.text}`);
    }
  }
  // The answer for another project's file differs from that for an unknown file in the id alone.
  for (const [kind, id] of [
    ['file', file_id],
    ['artifact', artifact_id],
  ] as const) {
    const unknown = id.slice(0, -4).concat('zzzz');
    const found = await execute(service, { file: `${kind}:${id}` }, foreign);
    const absent = await execute(service, { file: `${kind}:${unknown}` }, foreign);
    assert.equal(found.message.replace(id, ''), absent.message.replace(unknown, ''));
  }
  // An artifact is not a file, and a file is not an artifact.
  for (const file of [`file:${artifact_id}`, `artifact:${file_id}`, 'file:', 'file:../../etc/passwd', 'artifact:*']) {
    assert.equal((await execute(service, { file })).code, 'OBJECT_NOT_FOUND', file);
  }
});

test('[file-inputs] an expired artifact has its own error, and a file that is deleted at the same time is passed completely or not found', async () => {
  const service = await shared();
  const { key, filesUrl } = service;
  const { artifact_id } = await createArtifact(service);
  const database = new DatabaseSync(join(service.folder, 'quartermaster.db'), { timeout: 10_000 });
  database.prepare('update artifact set expires_at = 1 where id = ?').run(artifact_id);
  database.close();
  const { status, message } = await execute(service, { file: `artifact:${artifact_id}` });
  assert.ok(status === 422 || status === 404, message);
  if (status === 422) assert.match(message, /received one that has expired\. Run the plugin that created it again\.$/);
  for (let round = 0; round < 2; round++) {
    const file_id = await upload(service, key, Buffer.concat([pdf, randomBytes(8)]));
    const runs = Array.from({ length: 4 }, () => execute(service, { file: `file:${file_id}` }));
    const deleted = await send(`${filesUrl}/v1/files/${file_id}`, { key, method: 'DELETE' });
    assert.equal(deleted.status, 200);
    for (const { status, code, text } of await Promise.all(runs)) {
      assert.ok(status === 200 || code === 'OBJECT_NOT_FOUND', text);
    }
    assert.equal((await execute(service, { file: `file:${file_id}` })).code, 'OBJECT_NOT_FOUND');
  }
});

test('[file-inputs] only a key with the scope files sees names of files in schemas, over REST and MCP', async () => {
  const service = await shared();
  const { pluginsUrl, key } = service;
  const projectId = await projectOf(service);
  const plugins = await createKey(service, projectId, ['plugins', 'collections']);
  const paths = [
    '/v1/plugins',
    '/v1/plugins?bundle_id=digests',
    '/v1/plugins?q=digest',
    '/v1/plugins?format=openai&bundle_id=digests',
    '/v1/plugins?format=mcp&q=digest',
    '/v1/plugins/digests/digest',
    '/v1/bundles/digests',
    '/v1/bundles/digests/openapi.json',
  ];
  // The caller with a key comes first and last, so that no caller gets a list that was built for another one.
  for (const bearer of [key, null, plugins, key]) {
    const texts = paths.map(async (path) => [path, (await send(pluginsUrl + path, { key: bearer })).text] as const);
    const search = { name: 'search_tools', arguments: { query: 'digest' } };
    const rpc = async (path: string, method: string, params: object) =>
      JSON.stringify((await askMcp(pluginsUrl + path, bearer, method, params)).body);
    const found = [
      ...(await Promise.all(texts)),
      ['tools/list', await rpc('/mcp/digests', 'tools/list', {})] as const,
      ['search_tools', await rpc('/mcp', 'tools/call', search)] as const,
    ];
    for (const [path, text] of found) {
      assert.ok(text.includes('Returns the SHA-256 of files.'), `${path}: ${text.slice(0, 300)}`);
      assert.equal(/(?:file|artifact):/.test(text), bearer === key, `${path} with ${bearer}`);
    }
  }
});

// This test deletes the bytes of all files.
test('[file-inputs] the limit input_files and the limit input_file_bytes are checked before a file is read, and then its type is checked', async () => {
  const service = await shared();
  const { key } = service;
  const file = `file:${await upload(service, key, pdf)}`;
  const list = (count: number, value: string) => Array.from({ length: count }, () => value);
  const { artifact_id } = await createArtifact(service);
  assert.equal((await execute(service, { list: list(16, `artifact:${artifact_id}`) })).status, 200);
  const many = await execute(service, { list: list(17, `artifact:${artifact_id}`) });
  assert.deepEqual([many.status, many.code], [422, 'REQUEST_VALIDATION_ERROR']);
  assert.match(many.message, /^body\/input_params\/list\/16 /);
  const wrong = await execute(service, { picture: file });
  assert.equal(
    wrong.message,
    'body/input_params/picture must be a file of the type image/png; received a file whose content is application/pdf.',
  );
  const short = await execute(service, { file: `file:${await upload(service, key, Buffer.from('%PDF-1.7'))}` });
  assert.match(short.message, /^body\/input_params\/file must /, 'the content is checked against the schema');
  // Proves that nothing is read, because the bytes of the file are missing.
  const blobs = join(service.folder, 'blobs');
  for (const folder of await readdir(blobs)) await rm(join(blobs, folder), { recursive: true });
  const large = await execute(service, { list: list(3, file) });
  assert.deepEqual([large.status, large.code], [413, 'FILE_TOO_LARGE']);
  assert.match(large.message, /at most 8388608 bytes together; received \d+\.$/);
  const damaged = await execute(service, { file });
  assert.deepEqual([damaged.status, damaged.code], [503, 'SERVICE_UNAVAILABLE']);
});
