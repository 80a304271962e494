import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, utimes, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { assertShown, blocksRunBy, readBlocks } from '../support/documented-blocks.ts';
import { serve } from '../support/http.ts';
import { share, startService, temporaryFolder } from '../support/service.ts';
import { requireTools, toolsNamed } from '../support/system-tools.ts';

const run = promisify(execFile);

const login = 'quartermaster login http://127.0.0.1:8080 --key-file data/first-key\n';
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
  for (const folder of ['data', 'etc/prometheus', 'etc/quartermaster', 'backups'])
    await mkdir(join(home, folder), { recursive: true });
  await writeFile(join(home, 'data/first-key'), service.key);
  await copyFile('docs/examples/library-handbook.pdf', join(home, 'handbook.pdf'));
  const api = readFileSync('docs/examples/orders.yaml', 'utf8').replace(shopOrigin, 'https://api.orders-shop.com');
  await writeFile(join(home, 'YOUR-API.yaml'), api);
  await writeFile(join(home, 'opening-hours.md'), '# Opening hours\n\nThe library opens at nine.\n');
  await writeFile(join(home, 'credentials.json'), '{"WEATHER_API_KEY":"weather-key-of-the-test"}');
  for (const { language, text } of blocksRunBy(import.meta.filename)) {
    if (language === 'csv') await writeFile(join(home, 'questions.csv'), text);
  }
  const environment = { QUARTERMASTER_DATA: service.folder, QUARTERMASTER_EGRESS_OVERRIDES: settings.EGRESS_OVERRIDES };
  return { service, home, environment };
});

/**
 * The commands of the shell that a page needs. `npm start` starts the service until it is ready, with a store of its own while another process serves the one of the page. `bundle add` gets the digest of the
 * plan, because nobody can confirm it on a terminal.
 */
const commands = `
main() { "$NODE" "$MAIN" "$@"; }
quartermaster() {
  if [ "$1 \${2-}" = 'bundle add' ] && [[ "$*" != *--digest* && "$*" != *--json* ]]; then
    set -- "$@" --digest "$(main "$@" --json | jq -r .digest)"
  fi
  main "$@"
}
npm() {
  test "$*" = start
  local data=$QUARTERMASTER_DATA
  if [ "$data" = "$STORE" ]; then data=started; fi
  QUARTERMASTER_DATA=$data QUARTERMASTER_FILES_PORT=0 QUARTERMASTER_PLUGINS_PORT=0 "$NODE" "$MAIN" start > started.txt &
  trap "kill $!" EXIT
  { tail --pid=$! -n +1 -f started.txt || true; } | grep -m 1 'plugins address'
  kill $!
  wait $!
  trap - EXIT
}
`;

/** Runs the commands of a guide in one shell. Returns what each block printed, and the errors. */
async function runGuide(t: TestContext, page: string, { input = '', edit = (script: string) => script } = {}) {
  const { service, home, environment } = await opened();
  const blocks = blocksRunBy(import.meta.filename, page, 'sh').map(({ text }) => text);
  assert.ok(blocks.length > 0, page);
  const script = edit(blocks.join('echo ---\n'))
    .replace(/^alias .*\n/m, '')
    .replaceAll(/http:\/\/127\.0\.0\.1:8080|https:\/\/quartermaster\.example\.com/g, service.filesUrl)
    .replaceAll('http://127.0.0.1:8081', service.pluginsUrl)
    .replaceAll('docs/examples', resolve('docs/examples'))
    .replaceAll('/tmp/quartermaster-', join(home, 'copy-'))
    .replaceAll(/(?<= )\/(?=(?:etc|backups)\/)/g, `${home}/`);
  const env = { PATH: process.env.PATH ?? '', HOME: home, ...environment };
  const shell = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', `${commands}\n${script}`], {
    cwd: home,
    env: { ...env, STORE: service.folder, NODE: process.execPath, MAIN: resolve('packages/cli/src/main.ts') },
    signal: t.signal,
  });
  shell.stdin.on('error', () => {}).end(input); // a page may read nothing
  const [stdout, stderr, [code]] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'close')]);
  assert.equal(code, 0, `${stdout}\n${stderr}`);
  const parts = stdout.split('---\n');
  assert.equal(parts.length, blocks.length, stdout);
  return { parts, stderr };
}

test('[documented] every command of the tutorials works as printed, and gives the result that the page names', async (t) => {
  const { parts, stderr } = await runGuide(t, 'docs/guides/tutorials.md');
  const [, support = '', assistant = '', agent = '', shop = ''] = parts;
  assert.match(support, /^0\.456 .* page 3 /m);
  assert.match(stderr, /No chunk matches well/);
  assert.match(assistant, /"score": 0\.456\d,\s+"page": 3/);
  assert.match(agent, /calculator__evaluate\n[\s\S]*"value": 26/);
  assert.doesNotMatch(agent, /^(?!calculator|open_meteo)\w+__/m);
  const [shown] = blocksRunBy(import.meta.filename, 'docs/guides/tutorials.md', 'json');
  assertShown(shop, shown?.text ?? assert.fail('the page shows no answer'));
});

test('[documented] every command of the page about searching works as printed', async (t) => {
  const { parts } = await runGuide(t, 'docs/guides/search.md');
  const answers = parts.at(-1) ?? '';
  assert.match(answers, /"good_match": \w+,[\s\S]*"Rules 2025"[\s\S]*\]\s+\}\s+(\[\s+"Rules 2026"\s+\]\s+){2}/);
  assert.match(answers, /"matched": \[\s+"new",\s+"card",\s+"cost"/);
});

test('[documented] every command of the guide of the command line works as printed', async (t) => {
  const { service } = await opened();
  const { parts } = await runGuide(t, 'docs/guides/command-line.md', {
    input: `${service.key}\n`,
    edit: (script) => script.replace('quartermaster logout\n', `quartermaster logout\n${login}`),
  });
  assert.match(parts[0] ?? '', /42/);
  assert.match(parts[1] ?? '', /The library opens at nine\./);
});

test('[documented] the commands of the guides about bundles, importing, evaluation, runs and secrets work as printed', async (t) => {
  const { service, home } = await opened();
  for (const [path, content] of namedFiles('docs/guides/bundles.md')) {
    await mkdir(join(home, 'my-bundles', path, '..'), { recursive: true });
    await writeFile(join(home, 'my-bundles', path), content);
  }
  const bundles = await runGuide(t, 'docs/guides/bundles.md', {
    edit: (script) =>
      script
        .replace('keygen my-key.pem', 'keygen my-key.pem | tee printed.txt')
        .replace('trust ed25519:…', 'trust $(grep -o "ed25519:[^ ]*" printed.txt)')
        .replace(/weather-1\.0\.0-\w+\.qmb/, 'weather-1.0.0-*.qmb'),
  });
  assert.match(bundles.parts[0] ?? '', /1 of 1 examples pass/);
  await runGuide(t, 'docs/guides/importing.md');
  const { collection_id } = await service.client.collections.create({ name: 'Rules' });
  await service.client.records
    .create(collection_id, { type: 'text', title: 'Lending rules', content: 'You may keep a book for four weeks.' })
    .wait();
  const evaluation = await runGuide(t, 'docs/guides/evaluation.md', {
    edit: (script) => login + script.replace('COLLECTION', collection_id),
  });
  assert.match(evaluation.parts[0] ?? '', /^within ten +1 of 2$/m);
  const { parts } = await runGuide(t, 'docs/guides/runs.md');
  assert.match(parts[0] ?? '', /^HTTP\/1\.1 202 Accepted[\s\S]*"status":"queued"/);
  await runGuide(t, 'docs/reference/secrets.md');
});

test('[documented] the commands for operators work as printed: backup, restore, quarantine, deletion of projects and keys', async (t) => {
  const { service, home } = await opened();
  const { file_id } = await service.client.files.upload(new Blob(['tea']), { name: 'tea.md' });
  assert.ok(file_id);
  const [stored = ''] = globSync('blobs/*/*', { cwd: service.folder });
  for (const end of ['000', '111', '222']) {
    const path = join(service.folder, stored);
    const orphan = `${path.slice(0, -3)}${end}`;
    await copyFile(path, orphan);
    await utimes(orphan, 0, 0);
  }
  const { collection_id } = await service.client.collections.create({ name: 'Read only' });
  let blobs = 0;
  let projects = 0;
  const prepared =
    'quartermaster project create attic > created.txt\nquartermaster project create cellar > created.txt\n';
  const { parts } = await runGuide(t, 'docs/guides/operating.md', {
    input: 'attic\n',
    edit: (script) =>
      prepared +
      script
        .replace('quarantine list', 'quarantine list | tee list.txt')
        .replaceAll(/\bBLOB\b/g, () => `$(jq -rs '.[${blobs++}].blobId' list.txt)`)
        .replaceAll(/(?<=project delete )PROJECT/g, () => ['attic', 'cellar'][projects++] ?? '')
        .replaceAll('PROJECT', 'default')
        .replace(/coll\w{20}/, collection_id),
  });
  assert.match(readFileSync(join(home, 'etc/prometheus/quartermaster-key'), 'utf8'), /^qmk_\w+\n$/);
  assert.match(parts.at(-1) ?? '', /^(?:qmk_\w+\n){2}$/);
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
  const words = Array.from({ length: 300 }, (_, at) => `word${at}`).join(' ');
  const overlapping = { type: 'token', chunk_size: 200, chunk_overlap: 50 } as const;
  const long = { type: 'text', content: words, text_splitter: overlapping } as const;
  assert.ok((await records.create(collection_id, long).wait()).num_chunks > 2);
  const { record_id: empty } = await records.create(collection_id, { type: 'text', content: 'Gone.' }).wait();
  for await (const { chunk_id } of records.chunks(collection_id, empty))
    await source.client.chunks.delete(collection_id, chunk_id);
  await collections.create({ name: 'Pairs', type: 'qa' });
  const { stdout, stderr } = await run('bash', ['examples/from-taskingai.sh'], {
    env: {
      PATH: process.env.PATH ?? '',
      TASKINGAI_URL: source.filesUrl,
      TASKINGAI_API_KEY: source.key,
      QM_URL: target.filesUrl,
      QM_API_KEY: target.key,
    },
    signal: t.signal,
  });
  assert.match(stderr, new RegExp(`content[^]*\nDesk: not copied: ${empty}\n$`));
  const [, copied = ''] = /^Desk: 104 records, now (coll\w+)$/m.exec(stdout) ?? [];
  assert.match(stdout, /^Pairs: not copied/m);
  assert.deepEqual((await target.client.collections.get(copied)).metadata, { team: 'support' });
  const titles: string[] = [];
  for await (const { record_id, title } of target.client.records.list(copied)) {
    await target.client.records.wait(copied, record_id);
    titles.push(title);
    if (title !== '') continue;
    const chunks = await Array.fromAsync(target.client.records.chunks(copied, record_id, { order: 'asc' }));
    assert.equal(chunks.map(({ content }) => content).join(' '), words);
  }
  assert.equal(new Set(titles).size, 103);
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

/** Returns the files that a page prints, each with its path. */
function namedFiles(page: string) {
  return readBlocks()
    .filter((block) => block.page === page && block.language.includes('/'))
    .map(({ language, text }) => [language.replace(/^\w+ /, ''), text] as const);
}
