import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { loadFolder } from '../catalogue/load/load-folder.ts';
import { unknownCaller } from '../execution/run.ts';
import { maxTextCharacters } from './call-result.ts';
import { createCallTool } from './call-tool.ts';

const own = resolve(import.meta.dirname, '../../../../../bundles');

test('clients from revision 2025-06-18 on read structured content, so that a large output is sent once', async () => {
  const { bundles } = await loadFolder(own);
  const plugin = [...bundles.values()].flatMap((bundle) => [...bundle.plugins.values()])[0] ?? assert.fail();
  const output = { text: 'x'.repeat(maxTextCharacters) };
  const outcome = { kind: 'succeeded', output, violations: [] } as const;
  const callTool = createCallTool({
    executor: { execute: async () => ({ runId: 'run', durationMs: 1, outcome, isRepeatable: true }) },
    once: { runOnce: () => assert.fail('no key is sent') },
    resolveCredentials: (_project, _bundle, credentials) => ({ credentials }),
    artifacts: null,
    svgConverter: { toPng: async () => undefined },
  });
  const isCut = async (revision: string | undefined) => {
    const headerOf = (name: string) => (name === 'mcp-protocol-version' ? revision : undefined);
    const call = { plugin, input: {}, headerOf, meta: undefined, caller: unknownCaller };
    const { content, structuredContent } = await callTool({ ...call, signal: new AbortController().signal });
    assert.deepEqual(structuredContent, output);
    return content[0]?.type === 'text' && content[0].text.length === maxTextCharacters;
  };
  const revisions = [undefined, '2025-03-26', '2025-06-17', '2025-06-18', '2025-11-25'];
  assert.deepEqual(await Promise.all(revisions.map(isCut)), [false, false, false, true, true]);
});
