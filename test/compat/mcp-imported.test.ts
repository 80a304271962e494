import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { Client, type Progress, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { runCommand } from '../support/run-command.ts';
import { startService, temporaryFolder } from '../support/service.ts';

/** Starts the server of the fixture as a process of its own. */
async function startTools(t: TestContext) {
  const program = join(import.meta.dirname, 'contents-server.ts');
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => String((await lines.next()).value);
  return { url: await next(), next };
}

/** Imports the tools and connects a client to them. */
async function openWorld(t: TestContext) {
  const tools = await startTools(t);
  const folder = await temporaryFolder(t);
  const settings = { EGRESS_ALLOW: '127.0.0.1', BUNDLES: folder };
  const imported = await runCommand(
    { folder, settings },
    'bundle',
    'import',
    'mcp',
    tools.url,
    '--out',
    folder,
    '--id',
    'tools',
  );
  assert.equal(imported.code, 0, imported.errors);
  const service = await startService(t, { settings });
  const client = new Client({ name: 'test', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${service.key}` } };
  const url = new URL(`${service.pluginsUrl}/mcp/tools`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  t.after(() => client.close());
  return { ...tools, client, service };
}

const kindsOf = (content: ReadonlyArray<{ readonly type: string }>) => content.map(({ type }) => type);

test('[mcp-imported] text, picture, sound, link, resources and structure of an imported server reach the client', async (t) => {
  const { client, service } = await openWorld(t);
  const everything = await client.callTool({ name: 'everything', arguments: {} });
  const structured = await client.callTool({ name: 'structured', arguments: {} });
  for (const { content, isError } of [everything, structured]) {
    assert.notEqual(isError, true, JSON.stringify(content));
    const [text, image, audio, ...others] = content;
    assert.deepEqual(kindsOf([text, image, audio].filter((one) => one !== undefined)), ['text', 'image', 'audio']);
    assert.ok(image?.type === 'image' && image.mimeType === 'image/png' && image.data.startsWith('iVBOR'));
    assert.ok(text?.type === 'text' && !/iVBOR|UklGR|bm90ZQ/.test(text.text), 'no base64 is text');
    const passed = others.filter((one) => one.type !== 'resource_link' || one.uri === 'https://example.com/report');
    assert.deepEqual(passed, [
      { type: 'resource', resource: { uri: 'note://1', mimeType: 'text/markdown', text: '# Note' } },
      { type: 'resource', resource: { uri: 'note://2', mimeType: 'application/x-note', blob: 'bm90ZQ==' } },
      { type: 'resource_link', uri: 'https://example.com/report', name: 'report', mimeType: 'text/html' },
    ]);
  }
  assert.deepEqual(structured.structuredContent, { total: 6 });
  assert.match(JSON.stringify(everything.structuredContent), /Here is all of it\./);
  const { data, contents } = await service.client.plugins.run('tools/structured', {});
  assert.deepEqual(data, { total: 6 });
  assert.deepEqual(kindsOf(contents as Array<{ type: string }>), [
    'image',
    'audio',
    'resource_link',
    'resource',
    'resource',
  ]);
});

test('[mcp-imported] limited progress of an imported server reaches clients that ask for it, and a cancellation reaches the imported server', async (t) => {
  const { client, next } = await openWorld(t);
  const run = async (steps: number, total: boolean) => {
    const reports: Progress[] = [];
    const input = { steps, total, forever: false };
    const result = await client.callTool(
      { name: 'work', arguments: input },
      { onprogress: (one) => reports.push(one) },
    );
    return { reports, text: JSON.stringify(result.content) };
  };
  const { reports, text } = await run(3, true);
  assert.match(text, /done/);
  const numbers = reports.map(({ progress, total }) => [progress, total]);
  assert.deepEqual(numbers, [
    [1, 3],
    [2, 3],
    [3, 3],
  ]);
  for (const { message } of reports) assert.ok(message?.startsWith('step ') && message.length === 500);
  const { reports: many } = await run(150, false);
  assert.equal(many.length, 100);
  assert.deepEqual(many.at(-1)?.progress, 100);
  assert.equal(many.at(-1)?.total, undefined);
  const quiet = await client.callTool({ name: 'work', arguments: { steps: 3, total: true, forever: false } });
  assert.match(JSON.stringify(quiet.content), /nobody asked/);

  const controller = new AbortController();
  const input = { steps: 1, total: true, forever: true };
  const options = { signal: controller.signal, onprogress: () => controller.abort() };
  await assert.rejects(client.callTool({ name: 'work', arguments: input }, options));
  assert.equal(await next(), 'cancelled');
});
