import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { promisify, stripVTControlCharacters } from 'node:util';
import { addDocument, askMcp } from '../support/mcp-knowledge.ts';
import { startService, temporaryFolder } from '../support/service.ts';
import { startConformanceProxy } from './conformance-proxy.ts';

const run = promisify(execFile);
const fixture = 'test/fixtures/mcp-conformance';
const program = 'test/compat/node_modules/@modelcontextprotocol/conformance/dist/index.js';

for (const revision of ['2026-07-28', '2025-11-25']) {
  test(`[mcp] the conformance suite of ${revision} finds nothing that the baseline does not give a reason for`, async (t) => {
    const { pluginsUrl } = await startService(t, { settings: { BUNDLES: fixture } });
    const url = `${pluginsUrl}/mcp/conformance`;
    await callOnce(url);
    // The suite has its own time limits of half a second. A busy machine may miss one, so a failure gets one more
    // attempt.
    const first = await conformance(t, { url, revision });
    const last = first.code === 0 ? first : await conformance(t, { url, revision });
    assert.equal(last.code, 0, last.report);
    for (const scenario of ['tools-list', 'tools-call-with-progress', 'dns-rebinding-protection']) {
      assert.match(last.report, new RegExp(`✓ ${scenario}: [1-9]`), `${scenario} ran`);
    }
    if (revision === '2026-07-28') assert.match(last.report, /✓ http-header-validation: 14 passed, 0 failed/);
  });
}

const revisions = ['2025-06-18', '2025-11-25', '2026-07-28'];

/** The scenarios for resources that hold texts, with the revisions that have them and the URI that each reads. */
const resourceScenarios = [
  { scenario: 'resources-list', of: revisions },
  { scenario: 'resources-read-text', of: revisions, suiteUri: 'test://static-text' },
  { scenario: 'resources-templates-read', of: revisions, suiteUri: 'test://template/123/data' },
  { scenario: 'sep-2164-resource-not-found', of: ['2026-07-28'] },
] as const;

test('[mcp] the conformance scenarios for resources pass for a key with documents', async (t) => {
  const service = await startService(t);
  const { collectionId, recordId } = await addDocument(service, { content: 'Room 123 opens at nine.' });
  const uri = `quartermaster://collections/${collectionId}/records/${recordId}`;
  const target = `${service.filesUrl}/mcp`;
  const open = (suiteUri = 'test://static-text') =>
    startConformanceProxy(t, { target, key: service.key, suiteUri, uri });
  let count = 0;
  for (const { scenario, of, ...read } of resourceScenarios) {
    const url = await open('suiteUri' in read ? read.suiteUri : undefined);
    for (const revision of of) {
      const { code, report } = await runScenario(t, { url, revision, scenario });
      assert.deepEqual([code, /Passed: (\d+)\/\1, 0 failed, 0 warnings/.test(report)], [0, true], report);
      count += 1;
    }
  }
  // This scenario also asks for lists of prompts, which are not offered.
  const { report } = await runScenario(t, { url: await open(), revision: '2026-07-28', scenario: 'caching' });
  for (const method of ['list', 'templates-list', 'read']) {
    assert.match(report, new RegExp(`\\[sep-2549-resources-${method}-caching-hints *\\] SUCCESS`), report);
  }
  t.diagnostic(`${count} scenarios of resources passed, and those of caching for resources`);
});

test('[mcp] subscriptions to resources are not declared and do not exist', async (t) => {
  const service = await startService(t);
  const url = `${service.filesUrl}/mcp`;
  const client = { capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  for (const protocolVersion of ['2025-06-18', '2025-11-25']) {
    const { body } = await askMcp(url, service.key, 'initialize', { ...client, protocolVersion });
    assert.deepEqual(body.result.capabilities.resources, {}, protocolVersion);
  }
  for (const method of ['resources/subscribe', 'resources/unsubscribe']) {
    const { body } = await askMcp(url, service.key, method, { uri: 'quartermaster://collections/x/records/y' });
    assert.equal(body.error.code, -32601, method);
  }
});

/** Runs a handler once, because its first run starts its process. */
async function callOnce(url: string): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'test_simple_text' } }),
  });
  assert.equal(response.status, 200);
  await response.text();
}

async function conformance(t: TestContext, { url, revision }: { url: string; revision: string }) {
  const results = await temporaryFolder(t);
  const baseline = `${fixture}/expected-failures-${revision}.yaml`;
  const args = ['--url', url, '--requirements', revision, '--expected-failures', baseline, '--output-dir', results];
  const ended = await run(process.execPath, [program, 'server', ...args], {
    maxBuffer: 64 * 1024 ** 2,
    signal: t.signal,
  })
    .then(({ stdout, stderr }) => ({ code: 0, stdout, stderr }))
    .catch((error: { code: number; stdout: string; stderr: string }) => error);
  return {
    code: ended.code,
    report: `${ended.stdout.slice(ended.stdout.indexOf('=== SUMMARY'))}${ended.stderr.slice(-2000)}`,
  };
}

async function runScenario(
  t: TestContext,
  { url, revision, scenario }: { url: string; revision: string; scenario: string },
) {
  const results = await temporaryFolder(t);
  const args = ['--url', url, '--scenario', scenario, '--spec-version', revision, '--output-dir', results];
  const ended = await run(process.execPath, [program, 'server', ...args], { signal: t.signal })
    .then(({ stdout, stderr }) => ({ code: 0, stdout, stderr }))
    .catch((error: { code: number; stdout: string; stderr: string }) => error);
  return { code: ended.code, report: stripVTControlCharacters(ended.stdout + ended.stderr) };
}
