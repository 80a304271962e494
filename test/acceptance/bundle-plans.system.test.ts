import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { BundlePlan, BundlePlanRequest } from '@quartermaster/contract';
import { packFiles } from '../../packages/server/src/tools/installation/pack-files.ts';
import { packageOf } from '../../packages/server/src/tools/installation/testing/tarball.suite.ts';
import { setUp } from '../support/administrator.ts';
import { startService } from '../support/service.ts';

const manifest = {
  id: 'large',
  version: '1.0.0',
  name: 'Large',
  description: 'A bundle for tests.',
  provider: 'tests',
  developer: 'tests',
  hosts: ['api.example.com'],
};
const plugin = {
  id: 'read',
  name: 'Read',
  description: 'Reads.',
  effects: 'read',
  idempotent: true,
  input_schema: { type: 'object', properties: {} },
  output_schema: { type: 'object', properties: {} },
  request: { url: 'https://api.example.com/' },
};

const code = `exports.piece = {
  displayName: 'Tea', description: 'Brews tea.', getContextInfo: () => ({ version: '2' }),
  auth: { type: 'SECRET_TEXT', displayName: 'Key', description: 'The key.', required: true },
  _actions: { brew: { name: 'brew', displayName: 'Brew', description: 'Brew tea', requireAuth: true, classification: 'WRITE', props: {},
    run: async ({ auth }) => (await fetch('https://tea.example.com/', { headers: { 'X-Key': auth.secret_text ?? auth } })).json() } },
};`;

/** An archive with a file that cannot be compressed. */
function archiveWith(bytes: number): string {
  const files = { 'bundle.yaml': JSON.stringify(manifest), 'read.yaml': JSON.stringify(plugin) };
  const entries = Object.entries(files).map(([path, text]) => [path, Buffer.from(text)] as const);
  return packFiles(new Map([...entries, ['data.bin', randomBytes(bytes)]])).toString('base64');
}

test('[install] an administrator uploads archives and packages of 8 MiB, and a larger body than the limit is refused', async (t) => {
  const service = await startService(t);
  const admin = await setUp(service);
  const plan = (source: BundlePlanRequest['source']) => admin.ask('POST', '/v1/bundle_plans', { body: { source } });
  const answer = await plan({ kind: 'archive', content: archiveWith(8 * 2 ** 20) });
  const text = await answer.text();
  assert.equal(answer.status, 200, text.slice(0, 500));
  const { data } = JSON.parse(text) as { data: BundlePlan };
  assert.deepEqual([data.kind, data.trust, data.actions.length], ['archive', 'unsigned', 1]);
  assert.ok(data.bytes > 8 * 2 ** 20);
  const filler = `// ${randomBytes(4 * 2 ** 20 - 2_000).toString('hex')}\n`;
  const piece = await plan({ kind: 'piece_file', content: packageOf(filler + code).toString('base64') });
  const read = await piece.text();
  assert.equal(piece.status, 200, read.slice(0, 500));
  assert.match(read, /"bytes":83\d{5},/);
  const { bundle_plan_id: id, digest } = (JSON.parse(read) as { data: BundlePlan }).data;
  const edit = { digest, hosts: ['tea.example.com', 'leaf.example.com'] };
  const installed = await admin.ask('POST', `/v1/bundle_plans/${id}/install`, { body: edit });
  assert.equal(installed.status, 200);
  const served = async () =>
    (await (await admin.ask('GET', '/plugins/v1/plugins?bundle_id=piece_tea')).json()) as object;
  while ('error' in (await served())) await pause(100);
  assert.match(JSON.stringify(await served()), /"plugin_id":"brew"/);
  const larger = await plan({ kind: 'openapi', content: 'x'.repeat(25 * 2 ** 20) });
  assert.equal(larger.status, 413);
});
