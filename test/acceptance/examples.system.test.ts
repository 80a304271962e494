import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setUp } from '../support/administrator.ts';
import { serve } from '../support/http.ts';
import { openBrowser } from '../support/oauth.ts';
import { installPythonClient } from '../support/python-client.ts';
import { succeed } from '../support/run-command.ts';
import { share, startService, temporaryFolder } from '../support/service.ts';
import { requireTools, toolsNamed } from '../support/system-tools.ts';

const examples = globSync('examples/**/*.{sh,ts,py,yaml}').sort();
const passage = 'The library opens at nine and closes at six.';

/** A service that offers the bundle of the examples, and a folder like the clone in which it was started. */
const opened = share(async (t) => {
  const inventory = await serve(t, ({ headers, url }, response) => {
    const isExpected = headers.authorization === 'Bearer token-of-mine' && url === '/v1/items?q=lamp&limit=10';
    response.writeHead(isExpected ? 200 : 404, { 'content-type': 'application/json' });
    response.end(readFileSync('examples/bundles/inventory/fixtures/lamp.json'));
  });
  const overrides = JSON.stringify({ 'https://inventory.example.com': inventory });
  const settings = { BUNDLES: resolve('examples/bundles'), EGRESS_OVERRIDES: overrides };
  const service = await startService(t, { settings });
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, 'data'));
  await copyFile(join(service.folder, 'first-key'), join(folder, 'data/first-key'));
  await writeFile(join(folder, 'plain.txt'), 'The pool opens at seven.');
  await symlink(resolve('examples'), join(folder, 'examples'));
  return { service, folder };
});

/** Starts the command in the second line of an example, with other arguments if there are any. */
async function start(file: string, environment: Readonly<Record<string, string>> = {}, others?: string) {
  const { service, folder } = await opened();
  const command =
    /^(?:#|\/\/) Run: (.*)\n/m.exec(readFileSync(file, 'utf8'))?.[1] ?? assert.fail(`${file} has no command`);
  const changed = others === undefined ? command : command.replace(/(?<=examples\/ask\.\w+ ).*/, others);
  const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`; // Debian's Python has httpx
  const env = { PATH, HOME: folder, QM_URL: service.filesUrl, ...environment };
  const child = spawn('bash', ['-c', changed], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const ended = once(child, 'close').then(([code]) => {
    assert.equal(code, 0, output);
    return output.trim().split('\n');
  });
  return { child, ended };
}

type Messages = ReadonlyArray<{ readonly role: string; readonly content: string }>;
type Request = { readonly messages: Messages; readonly tools?: ReadonlyArray<{ readonly function: { name: string } }> };

/** Starts a model with the API of OpenAI. @returns the settings that select it */
async function startModel(t: TestContext, answer: (request: Request) => object) {
  const url = await serve(t, async (request, response) => {
    const isExpected = request.url === '/v1/chat/completions' && request.headers.authorization === 'Bearer sk-...';
    response.writeHead(isExpected ? 200 : 404, { 'content-type': 'application/json' });
    const message = { role: 'assistant', ...answer((await json(request)) as Request) };
    response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
  });
  return { OPENAI_BASE_URL: `${url}/v1` };
}

/** Adds the document of the examples. @returns the id of its collection */
async function addHandbook(): Promise<string> {
  const { client } = (await opened()).service;
  const { file_id } = await client.files.upload('examples/handbook.md');
  const { collection_id } = await client.collections.create({ name: 'Handbook' });
  await client.records.create(collection_id, { type: 'file', file_id }).wait();
  return collection_id;
}

test('[documented] each example has at most 60 lines, says what it shows and how to run it, and stands in the README', () => {
  assert.ok(examples.length >= 7, `${examples.length} files`);
  const readme = readFileSync('README.md', 'utf8');
  for (const file of examples) {
    const text = readFileSync(file, 'utf8');
    assert.ok(text.trimEnd().split('\n').length <= 60, `${file} has more than 60 lines`);
    assert.doesNotMatch(text, /\bfrom '(?:\.|@quartermaster\/(?!client'))/, `${file} imports what is not published`);
    assert.match(text, /^(?:#|\/\/) [A-Z].*\.\n(?:#|\/\/) (?:Run|Test): \S/, file);
    assert.ok(
      readme.includes(`](${file.endsWith('.yaml') ? dirname(file) : file})`),
      `README.md does not link ${file}`,
    );
  }
});

test('[documented] the examples in curl, TypeScript and Python find the passage and name its place', async (t) => {
  requireTools(toolsNamed('curl', 'jq', 'python3-httpx', 'python3-pip', 'python3-setuptools', 'python3-wheel'));
  const { modules } = await installPythonClient(t);
  const place = /^-- handbook\.md, Opening hours, score 0\.\d+$/;
  for (const file of ['examples/ask.sh', 'examples/ask.ts', 'examples/ask.py']) {
    const lines = await (await start(file, { PYTHONPATH: modules, PYTHONDONTWRITEBYTECODE: '1' })).ended;
    assert.ok(
      lines.some((line) => line.startsWith(passage)),
      lines.join('\n'),
    );
    assert.match(lines.at(-1) ?? '', place, file);
    for (const [others, end] of [
      ["plain.txt 'When does the pool open?'", /^-- plain\.txt, score 0\.\d+$/],
      ["plain.txt 'zebra'", /^No passage fits\.$/],
    ] as const) {
      const printed = await (await start(file, { PYTHONPATH: modules, PYTHONDONTWRITEBYTECODE: '1' }, others)).ended;
      assert.match(printed.at(-1) ?? '', end, file);
    }
  }
});

test('[documented] the example of a chat gives the model the passages and names the sources of its answer only', async (t) => {
  const requests: Request[] = [];
  const model = await startModel(t, (request) => {
    requests.push(request);
    return { content: 'It opens at nine [1], as another page says [9].' };
  });
  const { ended } = await start('examples/chat.ts', { ...model, COLLECTION: await addHandbook() });
  assert.deepEqual(await ended, ['It opens at nine [1], as another page says [9].', '[1] handbook.md, Opening hours']);
  const [system, user] = requests[0]?.messages ?? [];
  assert.match(system?.content ?? '', new RegExp(`\\[1\\] Opening hours\\s+${passage}`));
  assert.equal(user?.content, 'When does the library open?');
});

test('[documented] the example of an agent signs in from the URL alone, and its model searches the collections over MCP', async (t) => {
  const { service } = await opened();
  await addHandbook();
  const model = await startModel(t, ({ messages, tools }) => {
    const found = messages.at(-1);
    if (found?.role === 'tool') return { content: found.content.includes(passage) ? 'It opens at nine.' : 'unknown' };
    const name = tools?.find((tool) => tool.function.name === 'search')?.function.name;
    return {
      content: null,
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name, arguments: '{"query":"When does the library open?"}' } },
      ],
    };
  });
  const { child, ended } = await start('examples/agent.ts', model);
  const [printed] = (await once(child.stdout, 'data')) as [string];
  const browser = openBrowser(service.filesUrl, await setUp(service));
  const callback = await browser.allow(/^Open (\S+)/.exec(printed)?.[1] ?? assert.fail(printed));
  assert.match(await (await fetch(callback)).text(), /signed in/);
  const lines = await ended;
  assert.equal(lines.at(-1), 'It opens at nine.');
  assert.ok(!lines.some((line) => line.includes('[mcp-sdk]')), 'the library warns');
});

test('[documented] the example of an own bundle passes its test, and the service calls the API with the credential', async () => {
  const { client } = (await opened()).service;
  assert.match(await succeed({}, 'bundle', 'test', 'examples/bundles/inventory'), /1 of 1 examples pass/);
  const credentials = { INVENTORY_TOKEN: 'token-of-mine' };
  const run = await client.plugins.run('inventory/find_items', { words: 'lamp' }, { credentials });
  assert.deepEqual(run.data, { items: [{ name: 'Desk lamp', in_stock: 12 }] });
});
