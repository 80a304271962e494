import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCli } from '../../packages/cli/src/testing/run-cli.ts';
import { until } from '../../packages/server/src/platform/testing/until.ts';
import { setUp } from '../support/administrator.ts';
import { send, serve } from '../support/http.ts';
import { pieceThatSends, servePackage } from '../support/package-registry.ts';
import { startService, temporaryFolder } from '../support/service.ts';

const name = '@activepieces/piece-tea';
const secret = 'canary-key-of-tea';

test('[install] a piece is planned, installed, run, updated after confirmation, restored and removed by commands beside a running service', async (t) => {
  const received: { key: unknown; body: string }[] = [];
  const third = await serve(t, async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    received.push({ key: request.headers['x-key'], body });
    response.setHeader('Content-Type', 'application/json').end('{"ok":true}');
  });
  const versions: Record<string, string> = { '1.0.0': pieceThatSends('tea.example.com') };
  const registry = await servePackage(t, name, () => versions);
  const overrides = { 'https://tea.example.com': third };
  const settings = { PACKAGE_REGISTRY: registry, EGRESS_OVERRIDES: JSON.stringify(overrides) };
  const folder = await temporaryFolder(t);
  const service = await startService(t, { folder, settings });
  const environment = { QUARTERMASTER_DATA: folder, QUARTERMASTER_PACKAGE_REGISTRY: registry };
  const quartermaster = (...args: string[]) => runCli(['bundle', ...args], { home: folder, environment });
  const isServed = async (version: string | undefined) => {
    const { body } = await send(`${service.pluginsUrl}/v1/bundles?limit=100`, { key: service.key });
    return (
      (body.data as { bundle_id: string; version: string }[]).find(({ bundle_id: id }) => id === 'piece_tea')
        ?.version === version
    );
  };

  const asked = await quartermaster('add', name);
  assert.equal(asked.code, 64, asked.errors);
  assert.match(asked.output, /write \(1\): +brew\n.*may call: +tea\.example\.com\n.*only in: +header:x-key\n/s);
  const [, digest = ''] = /--digest ([0-9a-f]{64})/.exec(asked.errors) ?? [];
  assert.equal((await quartermaster('add', name, '--digest', 'f'.repeat(64))).code, 65);
  const added = await quartermaster('add', name, '--digest', digest);
  assert.deepEqual(
    [added.code, added.output],
    [0, 'installed piece_tea 1.0.0; a running service lists it within seconds\n'],
    added.errors,
  );
  await until(() => isServed('1.0.0'));
  const json = {
    bundle_id: 'piece_tea',
    plugin_id: 'brew',
    input_params: { leaf: 'mint' },
    credentials: { token: secret },
  };
  const answer = await send(`${service.pluginsUrl}/v1/execute`, { key: service.key, json });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(
    received,
    [{ key: secret, body: 'mint' }],
    'the third party gets the credential in the header that the plan showed',
  );
  assert.match((await quartermaster('update', 'piece_tea')).output, /already installed/);

  const administrator = await setUp(service);
  const runsInBudget = async () => {
    const metrics = await send(`${service.pluginsUrl}/metrics`, { key: service.key });
    return Number(/quartermaster_sandbox_runs_total\{outcome="returned"\} (\d+)/.exec(metrics.text)?.[1]);
  };
  const before = await runsInBudget();
  const body = { source: { kind: 'piece', package: name }, bundle_id: 'second_tea' };
  assert.equal((await administrator.ask('POST', '/v1/bundle_plans', { body })).status, 200);
  assert.ok((await runsInBudget()) > before, 'the service reads a piece in a process of the budget of plugins');

  versions['1.1.0'] = pieceThatSends('leaf.example.com', 'DESTRUCTIVE');
  const update = await quartermaster('update', 'piece_tea', '--json');
  const plan = JSON.parse(update.output) as { digest: string; update: { added: { hosts: string[] } } };
  assert.deepEqual(plan.update.added.hosts, ['leaf.example.com']);
  assert.equal(await isServed('1.0.0'), true, 'the update needs the confirmation');
  const updated = await quartermaster('update', 'piece_tea@1.1.0', '--digest', plan.digest);
  assert.equal(updated.code, 0, updated.errors);
  await until(() => isServed('1.1.0'));
  environment.QUARTERMASTER_PACKAGE_REGISTRY = 'http://127.0.0.1:1';
  const edit = ['update', 'piece_tea', '--add-hosts', 'tea.example.com'];
  const edited = JSON.parse((await quartermaster(...edit, '--json')).output) as typeof plan & { version: string };
  assert.equal(edited.version, '1.1.0', 'hosts are changed without the registry');
  assert.deepEqual(edited.update.added.hosts, ['tea.example.com'], 'the plan shows what the options change');
  assert.match((await quartermaster(...edit)).output, /Changes since 1\.1\.0\n {2}\+ may call tea\.example\.com\n/);
  const unlike = await quartermaster('update', 'piece_tea', '--add-hosts', 'x.example.com', '--digest', edited.digest);
  assert.equal(unlike.code, 65, 'the digest confirms the change too');
  for (const typo of ['https://files.slack.com/', '*.slack.com']) {
    const refused = await quartermaster('update', 'piece_tea', '--add-hosts', typo);
    assert.match(refused.errors, /is not valid\. Name a host such as files\.slack\.com/);
  }
  const changed = await quartermaster(...edit, '--digest', edited.digest);
  assert.equal(changed.code, 0, changed.errors);

  await service.stop();
  await rm(join(folder, 'bundles'), { recursive: true });
  const again = await startService(t, { folder, settings });
  Object.assign(service, again);
  await until(() => isServed('1.1.0'));
  const removed = await quartermaster('remove', 'piece_tea');
  assert.equal(removed.code, 0, removed.errors);
  await until(() => isServed(undefined));
  const events = await runCli(['audit', '--json'], { home: folder, environment });
  for (const action of ['planned', 'installed', 'updated', 'removed'])
    assert.match(events.output, new RegExp(`"bundle\\.${action}"`));
});
