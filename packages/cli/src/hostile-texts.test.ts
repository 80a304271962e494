import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { describeFailure } from './describe-failure.ts';
import { printError } from './output/print.ts';
import { createProgressLine } from './output/progress-line.ts';
import { createProgram } from './program.ts';

/** Characters that move the cursor, change colours, set titles, or change the direction of a text. */
const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;
const hostileText = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      '\u001b[2J',
      '\u001b]0;x\u0007',
      '\u009b31m',
      '\r',
      '\n',
      '\b',
      '\u007f',
      '\u202e',
      '\u2066',
      '\u2028',
      '\t',
    ),
    fc.integer({ min: 0, max: 0x9f }).map((code) => String.fromCharCode(code)),
    fc.constantFrom('a', '\u{1f600}', '\u4e2d', '\ud800'),
  ),
  minLength: 1,
  maxLength: 12,
});

/** Returns objects of the API whose texts are all hostile. */
function hostileItem(text: string): Record<string, unknown> {
  const ids = ['file_id', 'collection_id', 'record_id', 'chunk_id', 'bundle_id', 'plugin_id', 'run_id'];
  const texts = [
    'file_name',
    'purpose',
    'name',
    'description',
    'type',
    'title',
    'effects',
    'content',
    'outcome',
    'version',
  ];
  return {
    ...Object.fromEntries([...ids, ...texts].map((name) => [name, text])),
    ...{ status: 'ready', bytes: 1, sha256: text, created_timestamp: 0, num_records: 1, num_chunks: 1, score: 1 },
    ...{ duration_ms: 1, progress: null, error: { code: text, message: text }, metadata: { [text]: text } },
    ...{ locator: { sheet: text, heading_path: [text] }, references: [], data: { [text]: text }, [text]: text },
  };
}

const commands = [
  ...['files list', 'files get x', 'collections list', 'collections get x', 'collections create x', 'records list x'],
  ...[
    'records get x y',
    'records wait x y',
    'records retry x y',
    'records add x --text y',
    'search x y',
    'plugins list',
  ],
  ...[
    'plugins show x/y',
    'run list',
    'run show x',
    'run cancel x',
    'run x/y',
    'run x/y --background',
    'files download x',
  ],
];

async function startHostile(t: TestContext) {
  const state = { text: '', status: 200 };
  const server = createServer((request, response) => {
    const item = hostileItem(state.text);
    const isList = /\/(?:files|collections|records|plugins|runs|chunks\/query)(?:\?.*)?$/.test(request.url ?? '');
    const data = isList && (request.method === 'GET' || request.url?.endsWith('query') === true) ? [item] : item;
    const error = { code: state.text, message: state.text };
    const body = state.status === 200 ? { status: 'success', data, has_more: false } : { status: 'error', error };
    response.statusCode = state.status;
    response.end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return { state, url: `http://127.0.0.1:${port}` };
}

test('no text from a server controls the terminal in any command, whether in a table, in JSON or in an error', async (t) => {
  const { state, url } = await startHostile(t);
  const home = await mkdtemp(join(tmpdir(), 'quartermaster-hostile-'));
  t.after(() => rm(home, { recursive: true }));
  await writeFile(join(home, 'key'), 'qmk_secret');
  const printed: string[] = [];
  for (const name of ['log', 'error'] as const) t.mock.method(console, name, (text: string) => printed.push(text));
  const run = async (command: string, more: readonly string[]) => {
    const args = [...command.split(' '), '--url', url, '--key-file', join(home, 'key'), ...more];
    try {
      await createProgram().parseAsync(args, { from: 'user' });
    } catch (error) {
      printError(describeFailure(error).message);
    }
  };
  for (const command of commands) {
    await fc.assert(
      fc.asyncProperty(hostileText, fc.boolean(), fc.constantFrom(200, 422), async (text, isJson, status) => {
        Object.assign(state, { text, status });
        printed.length = 0;
        await run(command, isJson ? ['--json'] : []);
        assert.ok(printed.length > 0, command);
        for (const line of printed) assert.doesNotMatch(line, controls);
        assert.doesNotMatch(printed.join('\n'), /qmk_secret/);
      }),
      { numRuns: 15 },
    );
  }
  process.exitCode = 0; // the failed records of the server are part of the test
});

test('the progress line shows no control characters, fits the terminal, and is removed', () => {
  let written = '';
  let now = 0;
  const write = (text: string) => {
    written += text;
    return true;
  };
  const line = createProgressLine({ isTTY: true, columns: 20, write } as NodeJS.WriteStream, () => now);
  line.show(`\u001b[2J\r\n${'x'.repeat(100)}`);
  line.show('too early');
  now = 100;
  line.show('later');
  line.clear();
  line.clear();
  assert.equal(written, '\r\u001b[K\\u001b[2J\\u000d\\u00\r\u001b[Klater\r\u001b[K');
  written = '';
  const none = createProgressLine({ isTTY: false, columns: 20, write } as NodeJS.WriteStream, () => now);
  none.show('nothing');
  none.clear();
  assert.equal(written, '');
});
