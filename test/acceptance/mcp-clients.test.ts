import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { mcpClients } from '../support/mcp-clients.ts';
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

/** The clients share two services: one admits requests without a key, the other requires it. */
const openService = share(startService);
const closedService = share((t) => startService(t, { settings: { PLUGINS_KEY: 'required' } }));

for (const [library, openClient] of Object.entries(mcpClients)) {
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
