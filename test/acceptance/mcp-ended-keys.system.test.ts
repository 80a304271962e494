import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addDocument, askMcp } from '../support/mcp-knowledge.ts';
import { type StartedService, startService } from '../support/service.ts';

const scopes = ['collections', 'plugins', 'files'] as const;

/** Creates a key and returns it with the function that ends it. */
async function createEndingKey({ client }: StartedService, kind: 'revoked' | 'expired') {
  const [project] = (await client.projects.list()).data;
  const id = project?.project_id ?? '';
  const { key, key_id } = await client.keys.create(id, { name: kind, scopes: [...scopes] });
  const end = async () => {
    if (kind === 'revoked') await client.keys.revoke(id, key_id);
    // The old key of a rotation without overlap has expired.
    else await client.keys.rotate(id, key_id, { overlap_seconds: 0 });
  };
  return { key, end };
}

test('[mcp] a revoked or expired key gets 401 for every knowledge tool, resource and plugin, on both addresses', async (t) => {
  const service = await startService(t);
  const { collectionId, recordId } = await addDocument(service, { title: 'House rules', content: 'Otters may read.' });
  const uri = `quartermaster://collections/${collectionId}/records/${recordId}`;
  const requests: ReadonlyArray<readonly [method: string, params: object]> = [
    ['tools/list', {}],
    ['tools/call', { name: 'search', arguments: { query: 'otters' } }],
    ['tools/call', { name: 'fetch', arguments: { id: uri } }],
    ['tools/call', { name: 'list_collections', arguments: {} }],
    ['resources/list', {}],
    ['resources/templates/list', {}],
    ['resources/read', { uri }],
  ];
  const paths = ['/mcp', `/mcp/collections/${collectionId}`];
  const urls = [service.filesUrl, service.pluginsUrl].flatMap((address) => paths.map((path) => address + path));
  for (const kind of ['revoked', 'expired'] as const) {
    const { key, end } = await createEndingKey(service, kind);
    const ask = async () => {
      const rows: string[] = [];
      for (const url of urls) {
        for (const [method, params] of requests) {
          const { status, body } = await askMcp(url, key, method, params);
          const answer = JSON.stringify(body);
          rows.push(`${status} ${body.error?.code ?? 'result'} ${/otters|house rules|library/i.test(answer)}`);
        }
        const bundle = new URL('/mcp/arithmetic', url).href;
        const call = { name: 'add', arguments: { number_1: 2, number_2: 3 } };
        const { status, body } = await askMcp(bundle, key, 'tools/call', call);
        rows.push(`${status} ${body.error?.code ?? 'result'} ${/result\W+5\b/.test(JSON.stringify(body))}`);
      }
      return rows;
    };
    const before = await ask();
    assert.equal(before.length, 32);
    // Definitions of tools and templates of resources name no document.
    const isOpen = (row: string) => /^200 result/.test(row);
    assert.ok(before.every(isOpen), `${kind}: ${before.join(', ')}`);
    assert.equal(before.filter((row) => row.endsWith('true')).length, 24, before.join(', '));
    await end();
    assert.deepEqual(new Set(await ask()), new Set(['401 APIKEY_VALIDATION_FAILED false']), kind);
  }
});
