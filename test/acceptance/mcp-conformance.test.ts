import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { startService, temporaryFolder } from '../support/service.ts';

const run = promisify(execFile);
const fixture = 'test/fixtures/mcp-conformance';
const program = 'node_modules/@modelcontextprotocol/conformance/dist/index.js';

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
