import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, addChunk, addDocument, askMcp, callTool, createKey } from '../support/mcp-knowledge.ts';
import { runCommand } from '../support/run-command.ts';
import { type StartedService, startService } from '../support/service.ts';

const document = { title: 'House rules', content: 'The library opens at nine. Otters may borrow ten books.' };

test('[mcp] resources of other projects are not shown, nor any without a key with scope collections', async (t) => {
  const service = await startService(t);
  const { collectionId, recordId } = await addDocument(service, document);
  const chunk = await firstResult(service, '');
  await runCommand(service, 'project', 'create', 'second');
  const foreign = await createKey(service, 'second', 'collections');
  const uris = [`quartermaster://collections/${collectionId}/records/${recordId}`, chunk.id];
  for (const uri of uris) {
    const { body } = await askMcp(`${service.filesUrl}/mcp`, foreign, 'resources/read', { uri });
    assert.deepEqual([body.error.code, body.error.data], [-32602, { uri }]);
  }
  const listed = await askMcp(`${service.filesUrl}/mcp`, foreign, 'resources/list');
  assert.deepEqual(listed.body.result.resources, []);
  for (const cursor of [collectionId, `${collectionId}.${recordId}`]) {
    const { body } = await askMcp(`${service.filesUrl}/mcp`, foreign, 'resources/list', { cursor });
    assert.deepEqual(body.result.resources, []);
  }
  const elsewhere = await addDocument(service, { content: 'Foxes sleep.' });
  const own = `${service.filesUrl}/mcp/collections/${elsewhere.collectionId}`;
  const confined = await askMcp(own, service.key, 'resources/read', { uri: uris[0] });
  assert.equal(confined.body.error.code, -32602);

  const pluginsKey = await createKey(service, 'default', 'plugins');
  const endpoints: Array<[string, string | null]> = [
    [`${service.pluginsUrl}/mcp`, null],
    [`${service.pluginsUrl}/mcp`, pluginsKey],
    [`${service.filesUrl}/mcp`, pluginsKey],
    [`${service.pluginsUrl}/mcp/arithmetic`, service.key],
  ];
  for (const [url, key] of endpoints) {
    for (const method of ['resources/list', 'resources/read', 'resources/templates/list']) {
      const { body } = await askMcp(url, key, method, { uri: uris[0] });
      assert.equal(body.error.code, -32601, `${method} ${url}`);
    }
  }
});

test('[mcp] a long resource names the URI of its next part, and the parts together are the whole text', async (t) => {
  const service = await startService(t);
  // Digits have many tokens for each character.
  const content = Array.from({ length: 10_000 }, (_, nth) => 10_000 + ((nth * 7919) % 90_000)).join(' ');
  const { collectionId, recordId } = await addDocument(service, { content });
  let uri: string | undefined = `quartermaster://collections/${collectionId}/records/${recordId}`;
  let whole = '';
  let parts = 0;
  while (uri !== undefined) {
    const { body } = await askMcp(`${service.filesUrl}/mcp`, service.key, 'resources/read', { uri });
    const [part, next]: Answer[] = body.result.contents;
    whole += part.text;
    assert.equal(next?.text, next && `The text continues in the resource ${next.uri}.`);
    uri = next?.uri;
    parts += 1;
  }
  assert.ok(parts > 1, `${parts} parts`);
  assert.equal(whole.replaceAll(/\s+/g, ' '), content.replaceAll(/\s+/g, ' '));
});

test('[mcp] ?links=1 adds one link for each document, and ?profile=chatgpt keeps only the arguments query and id', async (t) => {
  const service = await startService(t);
  const { collectionId, recordId } = await addDocument(service, document);
  const chunk = await addChunk(service, collectionId, { content: 'Otters also swim.' });
  const uri = `quartermaster://collections/${collectionId}/records/${recordId}`;
  const linked = await callTool(`${service.filesUrl}/mcp?links=1`, service.key, 'search', { query: 'otters' });
  const [answer, ...links] = linked.content;
  assert.deepEqual(JSON.parse(answer.text), linked.structuredContent);
  const own = `quartermaster://collections/${collectionId}/chunks/${chunk.chunk_id}`;
  assert.deepEqual(links.map((link: Answer) => [link.type, link.uri]).toSorted(), [
    ['resource_link', own],
    ['resource_link', uri],
  ]);
  assert.equal((await firstContents(service, '')).length, 1);

  for (const path of ['/mcp', `/mcp/collections/${collectionId}`]) {
    const url = `${service.pluginsUrl}${path}?profile=chatgpt`;
    const { body } = await askMcp(url, service.key, 'tools/list');
    const schemas = body.result.tools
      .slice(0, 2)
      .map(({ inputSchema }: Answer) => [
        Object.entries(inputSchema.properties).map(([name, { type }]: [string, Answer]) => `${name}: ${type}`),
        inputSchema.required,
      ]);
    assert.deepEqual(schemas, [
      [['query: string'], ['query']],
      [['id: string'], ['id']],
    ]);
    const found = await callTool(url, service.key, 'search', { query: 'otters' });
    assert.deepEqual(found.content.length, 1);
    const read = await callTool(url, service.key, 'fetch', { id: found.structuredContent.results[0].id });
    assert.deepEqual(Object.keys(JSON.parse(read.content[0].text)).toSorted(), [
      ...['id', 'metadata', 'text', 'title', 'url'],
    ]);
  }
  for (const query of ['profile=other', 'links=2', 'links=1&links=1']) {
    const { status, body } = await askMcp(`${service.filesUrl}/mcp?${query}`, service.key, 'tools/list');
    assert.deepEqual([status, body.error?.code], [422, 'REQUEST_VALIDATION_ERROR'], query);
  }
});

async function firstContents(service: StartedService, query: string): Promise<Answer[]> {
  return (await callTool(`${service.filesUrl}/mcp${query}`, service.key, 'search', { query: 'otters' })).content;
}

async function firstResult(service: StartedService, query: string): Promise<Answer> {
  return JSON.parse((await firstContents(service, query))[0].text).results[0];
}
