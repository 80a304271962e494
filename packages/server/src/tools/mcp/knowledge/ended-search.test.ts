import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { createStreamShares } from '../../../platform/admission/stream-shares.ts';
import { createLogger } from '../../../platform/log/logger.ts';
import { everyPermission } from '../../../platform/permissions.ts';
import { createEndpoint } from '../endpoint.ts';
import { plainOffers } from '../testing/plain-offers.ts';
import { createKnowledge } from './knowledge.ts';
import type { KnowledgeStore } from './knowledge-store.ts';

const collectionId = 'coll00000000000000000000';
const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const newestHeaders = { 'mcp-method': 'tools/call', 'mcp-name': 'search' };

/** An endpoint whose search ends only when its signal aborts. */
function createSlowEndpoint() {
  const asked = Promise.withResolvers<AbortSignal | undefined>();
  const counted = Promise.withResolvers<readonly string[]>();
  const errors: unknown[] = [];
  const query: KnowledgeStore['chunks']['query'] = (_of, _body, signal) => {
    asked.resolve(signal);
    return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  };
  const knowledge = createKnowledge({
    store: { chunks: { query } } as unknown as KnowledgeStore,
    check: (_schema, sent) => sent as never,
    countCall: (...call) => counted.resolve(call),
    logger: createLogger('silent'),
  });
  const logger = { ...createLogger('silent'), debug() {}, error: (...logged: unknown[]) => errors.push(logged) };
  const callTool = () => assert.fail('no plugin is called');
  const endpoint = createEndpoint({
    streams: createStreamShares({ admission: createAdmission() }),
    ...{ version: '1.2.3', knowledge, offers: plainOffers, callTool },
    logger: logger as never,
  });
  return { endpoint, asked: asked.promise, counted: counted.promise, errors };
}

for (const revision of ['2026-07-28', '2025-11-25']) {
  test(`a search over MCP ${revision} ends when its client disconnects, and is no error of the service`, async () => {
    const { endpoint, asked, counted, errors } = createSlowEndpoint();
    const isNewest = revision === '2026-07-28';
    const headers = new Headers({
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...{ 'mcp-protocol-version': revision, ...(isNewest ? newestHeaders : {}) },
    });
    const params = { name: 'search', arguments: { query: 'red' }, ...(isNewest ? { _meta: envelope } : {}) };
    const client = new AbortController();
    const tools = { toolbox: { tools: [], plugins: new Map() } as never, listing: 'full' } as const;
    const answer = endpoint.answer(
      { headers, signal: client.signal },
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      { projectId: 'p', keyId: 'k', collectionId, permissions: everyPermission },
      tools,
    );
    const signal = await asked;
    assert.equal(signal?.aborted, false);
    client.abort();
    assert.deepEqual(await counted, ['search', 'client_gone']);
    assert.equal(signal.aborted, true);
    await answer.catch(() => {});
    assert.deepEqual(errors, []);
  });
}
