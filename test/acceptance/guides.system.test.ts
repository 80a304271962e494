import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { serve } from '../support/http.ts';
import { share, startService, temporaryFolder } from '../support/service.ts';
import { requireTools, toolsNamed } from '../support/system-tools.ts';

const run = promisify(execFile);

const shopOrigin = 'https://orders.shop.internal';

/** A service whose bundles reach a shop, and a folder like the clone in which it was started. */
const opened = share(async (t) => {
  requireTools(toolsNamed('jq'));
  const shop = await serve(t, (request, response) => {
    response.setHeader('Content-Type', 'application/json');
    const order = (request.url ?? '').replace('/orders/', '');
    response.end(JSON.stringify({ order_id: order, state: 'sent', arrives: '2026-12-02' }));
  });
  const settings = { EGRESS_OVERRIDES: JSON.stringify({ [shopOrigin]: shop }) };
  const service = await startService(t, { settings });
  const home = await temporaryFolder(t);
  await mkdir(join(home, 'data'));
  await writeFile(join(home, 'data/first-key'), service.key);
  const environment = { QUARTERMASTER_DATA: service.folder, QUARTERMASTER_EGRESS_OVERRIDES: settings.EGRESS_OVERRIDES };
  return { service, home, environment };
});

/** Runs the commands of a guide in one shell. Returns what each block printed, and the errors. */
async function runGuide(t: TestContext, guide: string) {
  const { service, home, environment } = await opened();
  const blocks = [...guide.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = '']) => block);
  const script = blocks
    .join('echo ---\n')
    .replace(/^alias .*\n/m, '')
    .replaceAll('http://127.0.0.1:8080', service.filesUrl)
    .replaceAll('http://127.0.0.1:8081', service.pluginsUrl)
    .replaceAll('docs/examples', resolve('docs/examples'))
    .replaceAll('/tmp/quartermaster-', join(home, 'copy-'));
  const command = `"${process.execPath}" "${resolve('packages/cli/src/main.ts')}"`;
  const { stdout, stderr } = await run(
    'bash',
    ['-euo', 'pipefail', '-c', `quartermaster() { ${command} "$@"; }\n${script}`],
    { cwd: home, env: { PATH: process.env.PATH ?? '', HOME: home, ...environment }, signal: t.signal },
  );
  const parts = stdout.split('---\n');
  assert.equal(parts.length, blocks.length, stdout);
  return { parts, stderr };
}

test('[documented] every command of the tutorials works as printed, and gives the result that the page names', async (t) => {
  const guide = readFileSync('docs/guides/tutorials.md', 'utf8');
  const { parts, stderr } = await runGuide(t, guide);
  const [, support = '', assistant = '', agent = '', shop = ''] = parts;
  assert.match(support, /^0\.456 .* page 3 /m);
  assert.match(stderr, /No chunk matches well/);
  assert.match(assistant, /"score": 0\.456\d,\s+"page": 3/);
  assert.match(agent, /calculator__evaluate\n[\s\S]*"value": 26/);
  assert.doesNotMatch(agent, /^(?!calculator|open_meteo)\w+__/m);
  const printed = /^```json\n([\s\S]*?)^```/m.exec(guide)?.[1] ?? assert.fail('the page shows no answer');
  assert.ok(shop.endsWith(printed), shop);
});

test('[documented] every command of the page about searching works as printed', async (t) => {
  const { parts } = await runGuide(t, readFileSync('docs/guides/search.md', 'utf8'));
  const answers = parts.at(-1) ?? '';
  assert.match(answers, /"good_match": \w+,[\s\S]*"Rules 2025"[\s\S]*\]\s+\}\s+(\[\s+"Rules 2026"\s+\]\s+){2}/);
  assert.match(answers, /"matched": \[\s+"new",\s+"card",\s+"cost"/);
});

test('[documented] the example for TaskingAI copies collections and records over the API that both services have', async (t) => {
  requireTools(toolsNamed('jq'));
  const [source, target] = await Promise.all([startService(t), startService(t)]);
  const { collections, records } = source.client;
  const { collection_id } = await collections.create({ name: 'Desk', metadata: { team: 'support' } });
  // More than a page of a list.
  for (let at = 0; at < 101; at += 1) {
    const content = at === 7 ? 'A new card costs five euros.' : `Shelf ${at} holds maps of the north.`;
    await records.create(collection_id, { type: 'text', title: `Page ${at}`, content, metadata: { at: String(at) } });
  }
  await records.create(collection_id, { type: 'text', title: 'Last', content: 'The end.' }).wait();
  for await (const { record_id } of records.list(collection_id)) await records.wait(collection_id, record_id);
  await collections.create({ name: 'Pairs', type: 'qa' });
  const { stdout } = await run('bash', ['examples/from-taskingai.sh'], {
    env: {
      PATH: process.env.PATH ?? '',
      TASKINGAI_URL: source.filesUrl,
      TASKINGAI_API_KEY: source.key,
      QM_URL: target.filesUrl,
      QM_API_KEY: target.key,
    },
    signal: t.signal,
  });
  const [, copied = ''] = /^Desk: 102 records, now (coll\w+)$/m.exec(stdout) ?? [];
  assert.match(stdout, /^Pairs: not copied/m);
  assert.deepEqual((await target.client.collections.get(copied)).metadata, { team: 'support' });
  const titles: string[] = [];
  for await (const { record_id, title } of target.client.records.list(copied)) {
    await target.client.records.wait(copied, record_id);
    titles.push(title);
  }
  assert.equal(new Set(titles).size, 102);
  const [best] = await target.client.search(copied, { query_text: 'What does a new card cost?', top_k: 1 });
  assert.equal(best?.title, 'Page 7');
  assert.match(best.content, /A new card costs five euros\.$/);
});

test('[documented] the service, the command line or the shell prints every message that the page of troubleshooting explains', () => {
  const code = globSync('{packages/{server,cli}/{src,bin},scripts}/**/*.{ts,mjs,cjs}')
    .filter((file) => !/\.test\.ts$|\/testing\//.test(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const page = readFileSync('docs/guides/troubleshooting.md', 'utf8');
  const messages = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map(([, message = '']) => message);
  assert.ok(messages.length >= 15, `${messages.length} messages`);
  const missing = messages.flatMap((message) => message.split(' … ').filter((part) => !code.includes(part)));
  assert.deepEqual(missing, ['quartermaster: command not found']);
});
