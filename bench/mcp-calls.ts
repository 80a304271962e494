import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { requestBytes } from './load.ts';
import type { Service } from './processes.ts';

/** The service refuses other host names while it does not require a key. */
const json = { 'Content-Type': 'application/json', Host: 'localhost' };
const tool = 'generated_07__plugin_3';

/** The headers and the `_meta` of a call in each revision. */
const revisions = {
  '2026-07-28': {
    headers: { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': tool },
    meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
  '2025-11-25': { headers: { 'MCP-Protocol-Version': '2025-11-25' }, meta: undefined },
};

/** Returns the request of a tool call after one such call has succeeded. */
export async function prepareCall(service: Service, revision: keyof typeof revisions): Promise<Buffer> {
  const { headers, meta } = revisions[revision];
  const params = { name: tool, arguments: { text: 'hello' }, _meta: meta };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const all = { ...json, ...headers, Accept: 'application/json, text/event-stream' };
  await checkAnswer(service, all, body);
  return requestBytes('POST', '/mcp', { headers: all, body });
}

/** Reads the body as well, because a failed tool also answers 200. */
async function checkAnswer({ pluginsUrl }: Service, headers: Record<string, string>, body: string): Promise<void> {
  const { Host: _, ...rest } = headers;
  const response = await fetch(`${pluginsUrl}/mcp`, { method: 'POST', headers: rest, body });
  const { result } = (await response.json()) as { result?: { structuredContent?: unknown } };
  assert.deepEqual(result?.structuredContent, { text: 'hello' });
}

/** Generates 20 bundles of 10 plugins that return their input. */
export async function generateBundles(folder: string): Promise<void> {
  const about = { name: 'Generated', description: 'Generated for the bench.' };
  const schema = {
    type: 'object',
    required: ['text'],
    properties: { text: { type: 'string', description: 'Any text.' } },
  };
  for (let bundle = 0; bundle < 20; bundle++) {
    const id = `generated_${String(bundle).padStart(2, '0')}`;
    await mkdir(join(folder, id), { recursive: true });
    const write = (name: string, content: object | string) =>
      writeFile(join(folder, id, name), typeof content === 'string' ? content : JSON.stringify(content));
    await write('bundle.yaml', { id, ...about, version: '1.0.0', provider: 'bench', developer: 'bench', hosts: [] });
    await write('echo.ts', 'export const run = (input) => input;\n');
    for (let plugin = 0; plugin < 10; plugin++) {
      const behaviour = { effects: 'read', idempotent: true, handler: 'echo.ts' };
      const manifest = { id: `plugin_${plugin}`, ...about, input_schema: schema, output_schema: schema, ...behaviour };
      await write(`plugin_${plugin}.yaml`, manifest);
    }
  }
}
