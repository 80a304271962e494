import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { blocksRunBy } from '../support/documented-blocks.ts';
import { share, startService } from '../support/service.ts';

const address = 'http://127.0.0.1:8081';

function blocks(language: string): string[] {
  return blocksRunBy(import.meta.filename, 'docs/guides/mcp.md', language).map(({ text }) => text);
}

const shared = share(startService);

test('[mcp] the commands of the guide that need no other application work as printed', async (t) => {
  const { pluginsUrl } = await shared();
  const line = blocks('sh').find((text) => text.startsWith('curl'));
  assert.ok(line);
  const { stdout } = await promisify(execFile)('sh', ['-c', line.replaceAll(address, pluginsUrl)], {
    signal: t.signal,
  });
  assert.deepEqual(JSON.parse(stdout).result.structuredContent, { result: 3 });
});

test('[mcp] the program of the guide starts with the address of the test', async (t) => {
  const service = await shared();
  const configured = blocks('json')
    .map((text) => JSON.parse(text).mcpServers.quartermaster)
    .find(({ command }) => command !== undefined);
  const args = (configured.args as string[]).map((arg) =>
    arg.replace('/path/to/quartermaster/data', service.folder).replace('/path/to/quartermaster', process.cwd()),
  );
  const client = new Client({ name: 'test', version: '1' });
  t.after(() => client.close());
  const env = { PATH: process.env.PATH ?? '', HOME: service.folder, ...configured.env };
  const transport = new StdioClientTransport({
    command: configured.command,
    args: [...args, '--url', service.pluginsUrl],
    env,
  });
  await client.connect(transport);
  assert.ok((await client.listTools()).tools.some(({ name }) => name === 'get_current_weather'));
});

test('[mcp] the programs of the guide run as printed', async (t) => {
  const { pluginsUrl } = await shared();
  const programs = blocks('js');
  assert.equal(programs.length, 3);
  // The folder is below the root of the repository, so that its packages are found.
  const folder = await mkdtemp(join(import.meta.dirname, 'node_modules', 'mcp-guide-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const printed: string[] = [];
  for (const program of programs) {
    const file = join(folder, 'tools.mjs');
    await writeFile(file, program.replaceAll(address, pluginsUrl));
    const { stdout } = await promisify(execFile)(process.execPath, [file], { signal: t.signal });
    printed.push(stdout.trim());
  }
  const [langChain, aiSdk, sdk] = printed;
  // Those that search for tools and call them.
  assert.deepEqual([langChain, aiSdk], ['3', '3']);
  assert.equal(sdk, "{ result: '4', value: 4 }");
});
