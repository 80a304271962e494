import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { isBundled } from '../../scripts/bundle-service.ts';
import { askMcp } from '../support/mcp-knowledge.ts';
import { startService, temporaryFolder } from '../support/service.ts';

test('[mcp] the first requests of a client load no module, because loading would block the event loop', async (t) => {
  const noted = join(await temporaryFolder(t), 'modules');
  const hook = `--import=${resolve('test/support/note-modules.ts')}`;
  const service = await startService(t, {
    launcher: ['env', `NODE_OPTIONS=${hook}`, `NOTED_MODULES=${noted}`],
  });
  const own = `${service.process.pid} `;
  const readModules = async () => (await readFile(noted, 'utf8')).split('\n').filter((line) => line.startsWith(own));
  const before = await readModules();
  assert.ok(before.some((line) => /\/(?:endpoints-|tools\/mcp\/endpoints)[^/]*$/.test(line)));
  const files = before.filter((line) => line.includes(' file:'));
  assert.ok(!isBundled() || files.length < 100, `the bundle is ${files.length} modules`);
  const client = { capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  for (const protocolVersion of ['2025-11-25', '2026-07-28']) {
    await askMcp(`${service.pluginsUrl}/mcp`, null, 'initialize', { ...client, protocolVersion });
  }
  const { body } = await askMcp(`${service.filesUrl}/mcp`, service.key, 'tools/list');
  assert.equal(body.result.tools.length, 6);
  const loaded = (await readModules()).slice(before.length);
  assert.deepEqual(loaded, []);
});
