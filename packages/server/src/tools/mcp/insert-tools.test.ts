import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createStreamShares } from '../../platform/admission/stream-shares.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { permissionsWithoutKey } from '../../platform/permissions.ts';
import type { CompiledPlugin } from '../catalogue/catalogue.ts';
import { loadFolder } from '../catalogue/load/load-folder.ts';
import { createEndpoint } from './endpoint.ts';
import { plainOffers } from './testing/plain-offers.ts';
import { createToolboxes } from './toolbox.ts';
import { toolsPerPage } from './toolsets/tool-offer.ts';

const own = resolve(import.meta.dirname, '../../../../../bundles');

/** Clients that receive JSON or an event stream. */
const clients = {
  'with a revision': { version: '2025-11-25', message: {} },
  'with a progress token': { version: '2025-11-25', message: { _meta: { progressToken: 1 } } },
  'without a revision': { version: undefined, message: {} },
} as const;

for (const [how, { version, message }] of Object.entries(clients)) {
  test(`the list for a client ${how} is built once, in slices`, async () => {
    const catalogue = await loadFolder(own);
    let described = 0;
    let inTurn = 0;
    let mostInTurn = 0;
    const describePlugin = (plugin: CompiledPlugin, language: string) => {
      if (inTurn === 0)
        setImmediate(() => {
          inTurn = 0;
        });
      inTurn += 1;
      described += 1;
      mostInTurn = Math.max(mostInTurn, inTurn);
      return catalogue.describePlugin(plugin, language);
    };
    const logger = createLogger('silent');
    const { all } = createToolboxes({ bundles: catalogue.bundles, describePlugin }, logger);
    const installed = [...catalogue.bundles.values()].reduce((sum, bundle) => sum + bundle.plugins.size, 0);
    const plugins = Math.min(installed, toolsPerPage);
    const callTool = () => assert.fail('no tool is called');
    const endpoint = createEndpoint({
      version: '1.2.3',
      knowledge: null,
      offers: plainOffers,
      streams: createStreamShares({ admission: createAdmission() }),
      logger,
      callTool,
    });
    const headers = {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
    };
    const request = { headers: new Headers(headers), signal: new AbortController().signal };
    for (let time = 0; time < 2; time++) {
      const listRequest = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: message };
      const caller = { projectId: null, keyId: null, permissions: permissionsWithoutKey };
      const tools = { toolbox: all, listing: 'full' } as const;
      const { status, body } = await endpoint.answer(request, listRequest, caller, tools);
      const text = await new Response(body).text();
      const { result } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
      assert.deepEqual([status, result.tools.length], [200, plugins]);
    }
    assert.equal(described, plugins, 'each tool is described once');
    assert.ok(mostInTurn < plugins, `${mostInTurn} of ${plugins} tools are described in one turn of the event loop`);
  });
}
