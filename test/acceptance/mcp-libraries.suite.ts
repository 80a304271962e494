import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { McpClient, OpenMcpClient } from '../support/mcp-clients.ts';
import { type Answer, addDocument } from '../support/mcp-knowledge.ts';
import { type StartedService, share, startService } from '../support/service.ts';

interface Example {
  readonly input: Record<string, unknown>;
  readonly output?: unknown;
}

interface OfflinePlugin {
  readonly bundleId: string;
  readonly pluginId: string;
  readonly example: Example;
}

const document = { title: 'House rules', content: 'The library opens at nine. Otters may borrow ten books.' };
/** The title is above the text of a record. */
const text = `${document.title}\n\n${document.content}`;

/** Tests the use of tools, documents and resources by each library. */
export function testMcpLibraries(clients: Readonly<Record<string, OpenMcpClient>>): void {
  /** The libraries share two services: one admits requests without a key, the other requires it. */
  const openService = share(startService);
  const closedService = share((t) => startService(t, { settings: { PLUGINS_KEY: 'required' } }));
  const openLibrary = share(async () => addDocument(await openService(), document));

  for (const [library, openClient] of Object.entries(clients)) {
    test(`[mcp] ${library} lists every plugin and calls every plugin that works offline, with and without a key`, async (t) => {
      const service = await openService();
      const every = (await service.client.plugins.list()).map((plugin) => `${plugin.bundle_id}__${plugin.plugin_id}`);
      const offline = await offlinePlugins(service);
      assert.ok(offline.length >= 10, `${offline.length} plugins work offline`);

      for (const headers of [{}, { Authorization: `Bearer ${service.key}` }]) {
        const client = await openClient(`${service.pluginsUrl}/mcp?tools=all`, headers);
        t.after(() => client.close());
        const knowledge = 'Authorization' in headers ? ['search', 'fetch', 'list_collections'] : [];
        assert.deepEqual(await client.listTools(), [...knowledge, ...every]);
        for (const { bundleId, pluginId, example } of offline) {
          assertOutput(await client.callTool(`${bundleId}__${pluginId}`, example.input), example);
        }
      }
      for (const bundleId of new Set(offline.map((plugin) => plugin.bundleId))) {
        const plugins = offline.filter((plugin) => plugin.bundleId === bundleId);
        const client = await openClient(`${service.pluginsUrl}/mcp/${bundleId}`, {});
        t.after(() => client.close());
        assert.deepEqual(
          await client.listTools(),
          plugins.map(({ pluginId }) => pluginId),
        );
        for (const { pluginId, example } of plugins)
          assertOutput(await client.callTool(pluginId, example.input), example);
      }
    });

    test(`[mcp] ${library} is refused with a wrong key, and without one where a key is required`, async (t) => {
      const { pluginsUrl, key } = await closedService();
      const open = async (headers: Record<string, string>) => {
        const client = await openClient(`${pluginsUrl}/mcp/time`, headers);
        t.after(() => client.close());
        return await client.listTools();
      };
      await assert.rejects(open({}));
      const wrongKey = key.slice(0, -1) + (key.endsWith('x') ? 'y' : 'x');
      await assert.rejects(open({ Authorization: `Bearer ${wrongKey}` }));
      assert.ok((await open({ Authorization: `Bearer ${key}` })).includes('convert_time'));
    });

    test(`[mcp] ${library} lists three tools, searches with them and calls what it found`, async (t) => {
      const { pluginsUrl } = await openService();
      const client = await openClient(`${pluginsUrl}/mcp`, {});
      t.after(() => client.close());
      assert.deepEqual(await client.listTools(), ['search_tools', 'call_read_tool', 'call_tool']);
      const found: Answer = await client.callTool('search_tools', { query: 'multiply two numbers' });
      assert.equal(found.tools[0].name, 'arithmetic__multiply');
      assert.deepEqual(found.tools[0].inputSchema.required, ['number_1', 'number_2']);
      const input = { name: 'arithmetic__multiply', arguments: { number_1: 6, number_2: 7 } };
      for (const name of ['call_read_tool', 'call_tool']) {
        assert.deepEqual(await client.callTool(name, input), { result: 42 });
      }
    });

    test(`[mcp] ${library} searches, reads and lists documents at both addresses and in one collection`, async (t) => {
      const service = await openService();
      const { collectionId, recordId } = await openLibrary();
      for (const address of [service.filesUrl, service.pluginsUrl]) {
        for (const path of ['/mcp', `/mcp/collections/${collectionId}`]) {
          const client = await openClient(address + path, { Authorization: `Bearer ${service.key}` });
          t.after(() => client.close());
          const listed = await client.listTools();
          assert.deepEqual(listed.slice(0, 3), ['search', 'fetch', 'list_collections']);
          assert.equal(listed.includes('search_tools'), path === '/mcp');
          const found: Answer = await client.callTool('search', { query: 'When does the library open?' });
          assert.equal(found.results[0].title, 'House rules');
          const read: Answer = await client.callTool('fetch', { id: found.results[0].id });
          assert.equal(read.text, text);
          const { collections }: Answer = await client.callTool('list_collections', {});
          assert.deepEqual(collections, [
            { id: collectionId, name: 'library', description: '', type: 'text', records: 1 },
          ]);
          if (client.reader !== undefined) await assertResources(client.reader, { collectionId, recordId });
        }
      }
    });
  }
}

/** Asserts that the document is a resource, that its URI is built from the template, and that it is read. */
async function assertResources(
  client: NonNullable<McpClient['reader']>,
  { collectionId, recordId }: { collectionId: string; recordId: string },
): Promise<void> {
  const uri = `quartermaster://collections/${collectionId}/records/${recordId}`;
  const { resources } = await client.listResources();
  assert.deepEqual(
    resources.map((resource) => [resource.uri, resource.name, resource.mimeType]),
    [[uri, 'House rules', 'text/markdown']],
  );
  const { resourceTemplates } = await client.listResourceTemplates();
  const [template] = resourceTemplates;
  const built = template?.uriTemplate.replace('{collection_id}', collectionId).replace('{record_id}', recordId);
  assert.equal(built, uri);
  const { contents } = await client.readResource({ uri });
  assert.deepEqual(
    contents.map((content) => [content.uri, Reflect.get(content, 'text')]),
    [[uri, text]],
  );
  await assert.rejects(client.readResource({ uri: `${uri}x` }), { code: -32602 });
  await assert.rejects(client.listResources({ cursor: 'x' }), { code: -32602 });
}

/** Returns the plugins of bundles without hosts, each with its first example. */
async function offlinePlugins({ client }: StartedService): Promise<OfflinePlugin[]> {
  const bundles = (await client.bundles.list()).filter(
    ({ hosts, hosts_by }) => hosts_by === 'bundle' && hosts.length === 0,
  );
  const plugins = await Promise.all(bundles.map(({ bundle_id }) => client.plugins.list({ bundle_id })));
  return plugins.flat().map(({ bundle_id: bundleId, plugin_id: pluginId }) => {
    const manifest = parse(readFileSync(`bundles/${bundleId}/${pluginId}.yaml`, 'utf8')) as { examples?: Example[] };
    return { bundleId, pluginId, example: manifest.examples?.[0] ?? { input: {} } };
  });
}

/** Asserts the output. A plugin without a fixed output (the time, a random number) must only have members. */
function assertOutput(output: unknown, example: Example): void {
  if (example.output === undefined) assert.ok(Object.keys(Object(output)).length > 0, JSON.stringify(output));
  else assert.deepEqual(output, example.output);
}
