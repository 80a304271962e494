import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { createLogger } from '../kernel/logger.ts';
import { loadFolder } from '../load-folder.ts';
import { createEndpoints } from './endpoints.ts';
import { createToolboxes } from './toolbox.ts';

const own = resolve(import.meta.dirname, '../../../../bundles');

test('the list is that of the tools, in any form of an answer, and nothing of a request takes its place', async () => {
  const logger = createLogger('silent');
  const catalogue = await loadFolder(own);
  const { tools } = createToolboxes(catalogue, logger).all;
  const callTool = () => Promise.reject(new Error('nothing is called here'));
  const endpoint = createEndpoints({ catalogue: () => catalogue, version: '0', callTool, logger }).getEndpoint(
    undefined,
  );
  const ask = async (message: object) => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    };
    const request = new Request('http://localhost/mcp', { method: 'POST', headers });
    const { body } = await endpoint.answer(request, message, { projectId: null, keyId: null });
    const text = Buffer.isBuffer(body) ? body.toString() : await new Response(body).text();
    return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
  };
  const list = { jsonrpc: '2.0', method: 'tools/list' };
  const id = '{"name":"ALL-TOOLS","inputSchema":{"type":"object"}}';
  assert.ok(tools.length > 100);
  const plain = JSON.parse(JSON.stringify(tools));
  assert.deepEqual(await ask({ ...list, id, params: {} }), { jsonrpc: '2.0', id, result: { tools: plain } });
  const streamed = await ask({ ...list, id: 2, params: { _meta: { progressToken: 1 } } });
  assert.deepEqual(streamed.result.tools, plain);
  assert.match((await ask({ ...list, id: 3, params: { cursor: 'a' } })).error.message, /Unknown cursor/);
});
