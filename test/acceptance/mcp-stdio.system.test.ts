import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { commandEnvironment } from '../support/command-environment.ts';
import { startService } from '../support/service.ts';

const modes = [{ pin: '2026-07-28' }, 'auto', 'legacy'] as const;

interface ConnectOptions {
  readonly args: readonly string[];
  readonly mode?: (typeof modes)[number];
  readonly env?: Record<string, string>;
}

async function connect(t: TestContext, { args, mode = 'auto', env = {} }: ConnectOptions): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const command = { command: process.execPath, args: ['packages/cli/src/main.ts', 'mcp', ...args] };
  t.after(() => client.close());
  await client.connect(new StdioClientTransport({ ...command, env: { ...commandEnvironment, ...env } }));
  return client;
}

/**
 * Records progress notifications from now on. It reads them from the transport, because the client drops progress that
 * arrives in the same chunk of input as the result.
 */
function watchProgress({ transport }: Client): unknown[] {
  const seen: unknown[] = [];
  assert.ok(transport?.onmessage);
  const { onmessage } = transport;
  transport.onmessage = (message) => {
    if ('method' in message && message.method === 'notifications/progress') seen.push(message.params?.progress);
    onmessage(message);
  };
  return seen;
}

test('[mcp] quartermaster mcp lists and calls over standard input and output, in each revision', async (t) => {
  const { pluginsUrl } = await startService(t, { settings: { BUNDLES: 'test/fixtures/mcp-conformance' } });
  for (const mode of modes) {
    const all = await connect(t, { args: ['--url', pluginsUrl, '--tools', 'all'], mode });
    const { tools } = await all.listTools();
    assert.ok(tools.some(({ name }) => name === 'arithmetic__add'));
    await all.close();
    const client = await connect(t, { args: ['--url', pluginsUrl], mode });
    const sum = await client.callTool({ name: 'arithmetic__add', arguments: { number_1: 1, number_2: 2 } });
    assert.deepEqual(sum.structuredContent, { result: 3 });
    const seen = watchProgress(client);
    await client.callTool({ name: 'conformance__test_tool_with_progress' }, { onprogress: () => undefined });
    assert.deepEqual(seen, [0, 0.5, 1]);
    await assert.rejects(client.callTool({ name: 'nöthing' }), { code: -32602 });
    await client.close();
  }
});

test('[mcp] quartermaster mcp serves one bundle, with the key of a file and a credential of the environment', async (t) => {
  const service = await startService(t, { settings: { PLUGINS_KEY: 'required' } });
  const args = ['time', '--url', service.pluginsUrl];
  const client = await connect(t, { args: [...args, '--key-file', join(service.folder, 'first-key')] });
  const { tools } = await client.listTools();
  assert.ok(tools.some(({ name }) => name === 'convert_time'));

  const keyFile = ['--key-file', join(service.folder, 'first-key')];
  const weather = await connect(t, {
    args: ['open_weather', '--url', service.pluginsUrl, ...keyFile, '--credential', 'OPEN_WEATHER_API_KEY'],
    env: { OPEN_WEATHER_API_KEY: 'canary-51c0' },
  });
  // Without the credential, the error would be about that. A rejected input causes no call.
  const refused = await weather.callTool({ name: 'get_current_weather', arguments: { unknown: true } });
  assert.match(JSON.stringify(refused.content), /arguments/);
});

test('[mcp] quartermaster mcp reports refusals of the service, and a service that does not answer', async (t) => {
  const { pluginsUrl, stop } = await startService(t, { settings: { PLUGINS_KEY: 'required' } });
  await assert.rejects(connect(t, { args: ['--url', pluginsUrl], mode: 'legacy' }), /APIKEY_VALIDATION_FAILED/);
  await stop();
  await assert.rejects(connect(t, { args: ['--url', pluginsUrl], mode: 'legacy' }), /ECONNREFUSED/);
});
