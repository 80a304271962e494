import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { type CliRequest, type CliResult, runCli } from '../../packages/cli/src/testing/run-cli.ts';
import { serve } from '../support/http.ts';
import { runCommand } from '../support/run-command.ts';
import { workbook } from '../support/sample-office.ts';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';

let service: StartedService;
const ends: Array<() => unknown> = [];

before(async () => {
  service = await startService({ after: (end) => ends.unshift(end) });
});

after(async () => {
  for (const end of ends) await end();
});

/** Returns a function that runs commands with one home, without the settings of the service. */
async function openHome(t: TestContext) {
  const home = await temporaryFolder(t);
  const run = (args: readonly string[], request: Partial<CliRequest> = {}): Promise<CliResult> =>
    runCli(args, { home, ...request });
  const login = async () => {
    const result = await run(['login', service.filesUrl], { input: `${service.key}\n` });
    assert.equal(result.code, 0, result.errors);
  };
  return { home, run, login, loginFile: join(home, '.config/quartermaster/login.json') };
}

test('[commands] a login checks the address and the key, stores both, and later commands use them', async (t) => {
  const { run, loginFile } = await openHome(t);
  const before = await run(['run', 'calculator/evaluate', '--url', `${service.filesUrl}/plugins`]);
  assert.equal(before.code, 77, before.errors);
  assert.match(before.errors, /APIKEY_VALIDATION_FAILED: .*Run "npm run quartermaster -- login" with another key\.$/m);

  const { code, output, errors } = await run(['login', `${service.filesUrl}/`], { input: `${service.key}\n` });
  assert.deepEqual([code, errors], [0, '']);
  assert.match(
    output,
    /^Logged in to http:\/\/127\.0\.0\.1:\d+ \(Quartermaster \d+\.\d+\.\d+\)\. The key has these permissions:\n {2}Reads, searches, changes and deletes every collection\.\n(?: {2}.*\n){5}With the scope admin, the key creates and revokes the keys of its project\. For daily work, create a key with fewer scopes\.\nThe address and the key are stored in .*login\.json\.\n$/,
  );
  assert.equal((await stat(loginFile)).mode & 0o777, 0o600);
  assert.deepEqual(JSON.parse(await readFile(loginFile, 'utf8')), { url: service.filesUrl, api_key: service.key });

  const listed = await run(['run', 'list', '--json']);
  assert.equal(listed.code, 0, listed.errors);
  const json = await run(['login', service.filesUrl, '--json'], { input: service.key });
  assert.deepEqual(JSON.parse(json.output).scopes, [
    'files',
    'collections',
    'plugins',
    'connections',
    'metrics',
    'admin',
  ]);

  assert.match((await run(['logout'])).output, /^Deleted .*login\.json\. The key remains valid: revoke it/);
  assert.deepEqual(JSON.parse((await run(['logout', '--json'])).output), { file: loginFile, deleted: false });
});

test('[commands] the key is read from a terminal without echo, and is printed nowhere', async (t) => {
  const { home, loginFile } = await openHome(t);
  const main = 'packages/cli/src/main.ts';
  const terminal = execFile(
    'script',
    ['-qefc', `exec '${process.execPath}' ${main} login ${service.filesUrl}`, '/dev/null'],
    {
      env: { PATH: process.env.PATH ?? '', HOME: home, TERM: 'xterm' },
    },
  );
  t.after(() => terminal.kill('SIGKILL'));
  let shown = '';
  terminal.stdout?.on('data', (text: string) => {
    shown += text;
    // A wrong character is erased before the key.
    if (shown.endsWith(': ')) terminal.stdin?.write(`x\u007f${service.key}\r`);
  });
  const [code] = await once(terminal, 'close');
  assert.equal(code, 0, shown);
  assert.match(shown, /^API key for http:\S+: \r\nLogged in to /);
  assert.ok(!shown.includes(service.key));
  assert.equal(JSON.parse(await readFile(loginFile, 'utf8')).api_key, service.key);
});

test('[commands] a login at a wrong address or with a wrong key stores nothing and names the remedy', async (t) => {
  const { run, loginFile } = await openHome(t);
  const received: string[] = [];
  const origin = await serve(t, (request, response) => {
    received.push(String(request.headers.authorization));
    response.end('<html>\u001b[2Jsign in\u009b31m</html>');
  });
  const wrong = [
    [[origin], service.key, 69, /^quartermaster: UNREADABLE_ANSWER: .*sign in/],
    [['http://127.0.0.1:1'], service.key, 69, /^quartermaster: No Quartermaster service answers\./],
    [[service.filesUrl], 'qmk_wrong', 77, /^quartermaster: APIKEY_VALIDATION_FAILED: /],
    [[service.filesUrl], '', 64, /^quartermaster: The API key must be one line without spaces\. Copy [^\n]+\.$/m],
    [[service.filesUrl], 'a\nb', 64, /^quartermaster: The API key must be one line without spaces\. Copy [^\n]+\.$/m],
    [
      ['ftp://x'],
      service.key,
      64,
      /^quartermaster: The URL must be an http or https URL, for example https:\/\/[^\n]+\.$/m,
    ],
    [
      [service.filesUrl, '--unknown'],
      service.key,
      64,
      /^quartermaster: Unknown option "--unknown"\. Run "npm run quartermaster -- login --help" to see the options\.$/m,
    ],
  ] as const;
  for (const [args, input, code, message] of wrong) {
    const result = await run(['login', ...args], { input });
    assert.equal(result.code, code, result.errors);
    assert.match(result.errors, message);
    assert.doesNotMatch(result.errors, /[\u001b\u009b]|qmk_/);
    await assert.rejects(stat(loginFile), { code: 'ENOENT' });
  }
  assert.deepEqual(
    new Set(received),
    new Set(['undefined']),
    'the key is not sent to a server that is not a Quartermaster',
  );
});

test('[commands] a plugin runs with inputs from an option, a file and standard input', async (t) => {
  const { home, run, login } = await openHome(t);
  await login();
  const input = '{"expression":"6 * 7"}';
  const path = join(home, 'input.json');
  await writeFile(path, input);
  const ways = [
    [['run', 'calculator/evaluate', '--input', input]],
    [['run', 'execute', 'calculator/evaluate', '--input-file', path]],
    [['run', 'calculator/evaluate', '--input-file', '-'], input],
  ] as const;
  for (const [args, stdin = ''] of ways) {
    const { code, output, errors } = await run(args, { input: stdin });
    assert.deepEqual([code, errors], [0, '']);
    assert.deepEqual(JSON.parse(output), { result: '42', value: 42 });
  }
  const whole = await run(['run', 'calculator/evaluate', '--input', input, '--json']);
  const { run_id, data } = JSON.parse(whole.output);
  assert.equal(data.value, 42);
  assert.equal(JSON.parse((await run(['run', 'show', run_id, '--json'])).output).outcome, 'succeeded');

  const background = await run(['run', 'calculator/evaluate', '--input', input, '--background']);
  const watched = await run(['run', 'watch', background.output.trim()]);
  assert.deepEqual([watched.code, /"value": 42/.test(watched.output)], [0, true]);

  const refused = [
    [
      ['--input', '{'],
      65,
      /^quartermaster: --input must be JSON\. Use --input-file to read a file or standard input\.$/m,
    ],
    [['--input', '[]'], 65, /^quartermaster: --input must be a JSON object\.$/m],
    [['--input', '{"expression":5}'], 65, /^quartermaster: REQUEST_VALIDATION_ERROR: .*expression must be a string/],
    [['--input', '{}', '--input-file', path], 64, /--input or --input-file, not both/],
    [['--input-file', join(home, 'missing')], 66, /missing does not exist\. Check the path\./],
    [['--credentials', '-', '--profile', 'x'], 64, /--credentials or --profile, not both/],
  ] as const;
  for (const [args, code, message] of refused) {
    const result = await run(['run', 'calculator/evaluate', ...args]);
    assert.deepEqual([result.code, result.output], [code, ''], result.errors);
    assert.match(result.errors, message);
  }
  const unknown = await run(['run', 'calculator/nothing', '--json']);
  const { error } = JSON.parse(unknown.errors);
  assert.deepEqual([unknown.code, error.code, error.message.includes(error.code)], [66, 'OBJECT_NOT_FOUND', false]);
  assert.equal((await run(['run', 'lst'])).code, 64);
});

test('[commands] files are uploaded, listed, downloaded and deleted', async (t) => {
  const { home, run, login } = await openHome(t);
  await login();
  await writeFile(join(home, 'library.md'), '# Opening hours\n\nThe library opens at nine.\n');
  await writeFile(join(home, 'empty.md'), '');
  const inHome = { folder: home };
  const uploaded = await run(['files', 'upload', 'library.md', '--json'], inHome);
  assert.deepEqual([uploaded.code, uploaded.errors], [0, ''], 'progress is shown on a terminal only');
  const file = JSON.parse(uploaded.output);
  assert.equal(file.file_name, 'library.md');
  const folder = await run(['files', 'upload', '.'], inHome);
  assert.deepEqual([folder.code, folder.errors], [66, 'quartermaster: . is a folder. Name a file.\n']);
  const uploads = await run(['files', 'upload', 'library.md', 'missing.md', 'wrong.xyz', 'empty.md'], inHome);
  assert.equal(uploads.code, 66, uploads.errors);
  assert.match(uploads.output, /^\S+ {2}library\.md\n\S+ {2}empty\.md\n$/);
  assert.match(uploads.errors, /^quartermaster: missing\.md does not exist\. Check the path\.$/m);

  const listed = await run(['files', 'list', '--name', 'library.md', '--limit', '1']);
  assert.match(listed.output, /^FILE +NAME +PURPOSE +BYTES +CREATED\n\S+ +library\.md +record_file +\d+ +\d{4}-/);
  assert.match(listed.errors, /There are more\. The list has \d+ items\./);
  const lines = (await run(['files', 'list', '--json'])).output.trim().split('\n');
  assert.equal(lines.map((line) => JSON.parse(line)).length, 3);

  const taken = await run(['files', 'download', file.file_id], inHome);
  assert.deepEqual([taken.code, /exists already/.test(taken.errors)], [73, true]);
  const copied = await run(['files', 'download', file.file_id, '--out', 'copy.md'], inHome);
  assert.deepEqual([copied.code, copied.output], [0, 'copy.md\n']);
  assert.equal(await readFile(join(home, 'copy.md'), 'utf8'), await readFile(join(home, 'library.md'), 'utf8'));
  assert.equal(
    (await run(['files', 'download', file.file_id, '--out', '-'])).output,
    await readFile(join(home, 'library.md'), 'utf8'),
  );
  assert.equal((await run(['files', 'wait', file.file_id])).code, 1);
  assert.equal((await run(['files', 'delete', file.file_id])).code, 0);
  assert.equal((await run(['files', 'get', file.file_id])).code, 66);
});

test('[commands] a run names its artifacts on standard error, and they are downloaded', async (t) => {
  const { home, run, login } = await openHome(t);
  await login();
  const drawing = ['run', 'qr_code_generator/generate_qr_code', '--input', '{"text":"https://example.com/"}'];
  const drawn = await run(drawing);
  assert.equal(drawn.code, 0, drawn.errors);
  const described =
    /: (\S+\.png), image\/png, (\d+) bytes, until \d{4}-\S+Z\. Download it:\n {2}.*artifacts download (\S+) --out \1$/m;
  const [, name = '', bytes, id = ''] = described.exec(drawn.errors) ?? [];
  assert.ok(id.startsWith('arti'), drawn.errors);
  const saved = await run(['artifacts', 'download', id], { folder: home });
  assert.deepEqual([saved.code, saved.output], [0, `${name}\n`], saved.errors);
  const content = await readFile(join(home, name));
  assert.equal(content.length, Number(bytes));
  assert.ok(drawn.output.includes(content.toString('base64')));
  assert.equal((await run(['artifacts', 'download', id], { folder: home })).code, 73);
  const got = JSON.parse((await run(['artifacts', 'get', id, '--json'])).output);
  assert.deepEqual([got.artifact_id, got.bytes], [id, content.length]);
  assert.equal((await run([...drawing, '--json'])).errors, '');
  assert.equal((await run(['artifacts', 'delete', id])).code, 0);
  assert.equal((await run(['artifacts', 'download', id], { folder: home })).code, 66);
});

test('[commands] a run writes its picture, or its output, to the file that --out names', async (t) => {
  const { home, run, login } = await openHome(t);
  await login();
  const inHome = { folder: home };
  const drawing = ['run', 'qr_code_generator/generate_qr_code', '--input', '{"text":"https://example.com/"}'];
  const drawn = await run([...drawing, '--out', 'code.PNG'], inHome);
  assert.equal(drawn.code, 0, drawn.errors);
  assert.match(drawn.errors, /^Written to code\.PNG: \S+\.png$/m);
  assert.match(drawn.errors, /\.svg, image\/svg\+xml, .* Download it:$/m);
  assert.doesNotMatch(drawn.errors, /\.png, image\/png, .* Download it:$/m);
  const content = await readFile(join(home, 'code.PNG'));
  assert.ok(drawn.output.includes(content.toString('base64')));
  const countRuns = async () => (await run(['run', 'list', '--json', '--limit', '100'])).output.split('\n').length;
  const before = await countRuns();
  const again = await run([...drawing, '--out', 'code.PNG'], inHome);
  assert.deepEqual([again.code, again.output], [73, ''], 'a file is not replaced, and the plugin does not run');
  assert.equal((await run([...drawing, '--out', 'absent/code.png'], inHome)).code, 66);
  assert.equal((await run([...drawing, '--out', 'code.png', '--background'], inHome)).code, 64);
  assert.equal(await countRuns(), before);
  assert.equal((await run([...drawing, '--out', 'code.PNG', '--force'], inHome)).code, 0);
  const other = await run([...drawing, '--out', 'code.pdf'], inHome);
  assert.equal(other.code, 73);
  assert.match(
    other.errors,
    /The output has 2 files, and none has the extension of code\.pdf\. .*arti\S+ \(\S+\.svg\)/,
  );
  assert.ok(JSON.parse(other.output), 'the output is printed');
  const sum = ['run', 'calculator/evaluate', '--input', '{"expression":"6 * 7"}', '--out'];
  assert.equal((await run([...sum, 'sum.json'], inHome)).code, 0);
  const { output } = await run([...sum, '-'], inHome);
  assert.deepEqual(JSON.parse(output), JSON.parse(await readFile(join(home, 'sum.json'), 'utf8')));
  assert.deepEqual((await readdir(home)).filter((name) => !name.startsWith('.')).sort(), ['code.PNG', 'sum.json']);
});

test('[commands] --out decodes a picture that a full project cannot store, and writes no JSON to a picture file', async (t) => {
  const full = await startService(t, { settings: { MAX_PROJECT_BYTES: '100' } });
  const { home, run } = await openHome(t);
  const environment = { QUARTERMASTER_URL: full.filesUrl, QUARTERMASTER_API_KEY: full.key };
  const inHome = { folder: home, environment };
  const drawing = ['run', 'qr_code_generator/generate_qr_code', '--input', '{"text":"https://example.com/"}', '--out'];
  const drawn = await run([...drawing, 'code.png'], inHome);
  assert.equal(drawn.code, 0, drawn.errors);
  assert.match(drawn.errors, /^Written to code\.png: a \.png file in the output$/m);
  const content = await readFile(join(home, 'code.png'));
  assert.equal(content.toString('hex', 0, 8), '89504e470d0a1a0a');
  assert.ok(drawn.output.includes(content.toString('base64')));
  assert.equal((await run([...drawing, 'code.svg'], inHome)).code, 0);
  assert.match(await readFile(join(home, 'code.svg'), 'utf8'), /<svg/);
  const absent = await run([...drawing, 'code.pdf'], inHome);
  assert.equal(absent.code, 73);
  assert.match(absent.errors, /The output has no \.pdf content, so code\.pdf was not written\./);
  assert.ok(JSON.parse(absent.output), 'the output is printed');
  assert.deepEqual((await readdir(home)).filter((name) => !name.startsWith('.')).sort(), ['code.png', 'code.svg']);
  const refused = await run(['run', 'list', '--limit', '1000', '--json'], inHome);
  const { error } = JSON.parse(refused.errors);
  assert.deepEqual([error.code, error.details[0].path], ['REQUEST_VALIDATION_ERROR', 'query/limit'], refused.errors);
});

test('[commands] the guide downloads a picture of a plugin as printed', async (t) => {
  const { home, login } = await openHome(t);
  await login();
  const guide = await readFile('docs/guides/command-line.md', 'utf8');
  const lines = /^## Pictures and documents from plugins\n[\s\S]*?^```sh\n([\s\S]*?)^```/m.exec(guide)?.[1] ?? '';
  const main = resolve('packages/cli/src/main.ts');
  const script = `set -e\nquartermaster() { "$NODE" "$MAIN" "$@"; }\n${lines}`;
  const env = { PATH: process.env.PATH ?? '', HOME: home, NODE: process.execPath, MAIN: main };
  const { stdout } = await promisify(execFile)('sh', ['-c', script], { cwd: home, env });
  assert.match(stdout, /^code\.png\n/);
  assert.equal((await readFile(join(home, 'code.png'))).toString('hex', 0, 8), '89504e470d0a1a0a');
});

test('[commands] a collection is created, filled, searched and deleted', async (t) => {
  const { home, run, login } = await openHome(t);
  await login();
  await writeFile(join(home, 'library.md'), '# Opening hours\n\nThe library opens at nine.\n');
  await writeFile(join(home, 'broken.pdf'), '%PDF-1.4\nno document');
  const created = await run(['collections', 'create', 'handbook', '--metadata', '{"team":"desk"}', '--json']);
  const { collection_id: id, metadata } = JSON.parse(created.output);
  assert.deepEqual(metadata, { team: 'desk' });

  const added = await run(
    ['records', 'add', id, 'library.md', '--text', 'Books may be kept for four weeks.', '--wait'],
    {
      folder: home,
    },
  );
  assert.equal(added.code, 0, added.errors);
  assert.match(added.output, /^\S+ {2}ready {2}1 chunk\n\S+ {2}ready {2}1 chunk\n$/);
  const broken = await run(['records', 'add', id, 'broken.pdf', '--wait', '--json'], { folder: home });
  const record = JSON.parse(broken.output);
  assert.deepEqual([broken.code, record.status], [1, 'error']);
  const fileOf = JSON.parse(record.content).file_id;
  const waited = await run(['files', 'wait', fileOf]);
  assert.deepEqual([waited.code, waited.errors.includes(record.error.code)], [1, true]);
  assert.equal((await run(['records', 'retry', id, record.record_id])).code, 0);
  assert.equal((await run(['records', 'wait', id, record.record_id])).code, 1);

  const found = await run(['search', id, 'When does the library open?', '--top-k', '1']);
  const printed = /^\d\.\d{3} {2}\S+ {2}library\.md {2}Opening hours\n(?: {2}.*\n)* {2}The library opens at nine\.\n$/;
  assert.match(found.output, printed);
  const poor = await run(['search', id, 'Which weeks suit submarines, telescopes and rockets?']);
  assert.match(poor.output, /weeks/);
  assert.match(poor.errors, /^No chunk matches well: the collection may have no answer/m);
  const none = await run(['search', id, 'When does the library open?', '--score-threshold', '1']);
  assert.deepEqual([none.output, none.errors.trim()], ['', 'No chunk reaches the threshold of 1.']);
  const around = await run([
    'search',
    `${id},${id}`,
    'four weeks',
    '--top-k',
    '1',
    '--expand',
    '2',
    '--rerank',
    '--json',
  ]);
  assert.deepEqual(Object.keys(JSON.parse(around.output).neighbours), ['before', 'after', 'omitted']);
  const json = await run(['search', id, 'four weeks', '--top-k', '1', '--json']);
  assert.match(JSON.parse(json.output).content, /four weeks/);

  const sheet = 'question,expected\nWhen does the library open?,library.md\nMay dogs come in?,Dogs\n';
  await writeFile(join(home, 'questions.csv'), sheet);
  const before = (await run(['files', 'list', '--json'])).output;
  const evaluate = () => run(['evaluate', id, 'questions.csv'], { folder: home });
  const first = await evaluate();
  assert.match(
    first.output,
    /^row 3 {2}not found {2}May dogs come in\? {2}\(best: .*\)\nfirst {9}1 of 2\n/,
    first.errors,
  );
  assert.match((await evaluate()).output, /within ten {4}1 of 2, before 1 of 2\n$/);
  await writeFile(join(home, 'questions.csv'), `${sheet}Who pays?,\n`);
  assert.match((await evaluate()).output, /^row 4 {2}skipped {2}The answer is empty\.\n(?:.*\n)+skipped {7}1\n$/);
  assert.equal((await run(['files', 'list', '--json'])).output, before, 'the sheets are deleted');

  const ids = (await run(['records', 'list', id, '--json'])).output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).record_id);
  assert.equal(ids.length, 3);
  const deleted = await run(['records', 'delete', id, ...ids, 'rcrd00000000000000000000']);
  assert.equal(deleted.code, 66, deleted.errors);
  assert.match((await run(['collections', 'get', id])).output, /^num_records +0$/m);
  assert.equal(
    (await run(['collections', 'delete', id, '--json'])).output,
    `{"collection_id":"${id}","deleted":true}\n`,
  );
  assert.equal((await run(['records', 'add', id, join(home, 'library.md')])).code, 66);
  assert.equal((await run(['records', 'add', id])).code, 64);
});

test('[commands] a file that the collection does not take is not uploaded', async (t) => {
  const { home, run, login } = await openHome(t);
  await login();
  await writeFile(join(home, 'mismatch.csv'), 'question,answer\nWhen?,Now\n');
  await writeFile(join(home, 'mismatch.md'), 'text');
  for (const [type, needed, name] of [
    ['text', 'qa', 'mismatch.csv'],
    ['qa', 'text', 'mismatch.md'],
  ] as const) {
    const id = (await run(['collections', 'create', type, '--type', type])).output.trim();
    const { code, errors } = await run(['records', 'add', id, name], { folder: home });
    const reason = `needs a collection of type "${needed}"; this one has type "${type}". Nothing was uploaded. Name another collection.`;
    assert.deepEqual([code, errors], [65, `quartermaster: ${name} ${reason}\n`]);
    assert.equal((await run(['files', 'list', '--name', name, '--json'])).output, '');
  }
});

test('[commands] the purpose of a file fits the collection to which it is added', async (t) => {
  const { home, run, login } = await openHome(t);
  await login();
  await writeFile(
    join(home, 'faq.xlsx'),
    workbook([
      {
        name: 'FAQ',
        rows: [
          ['question', 'answer'],
          ['Who?', 'Me.'],
        ],
      },
    ]),
  );
  await writeFile(join(home, 'faq.json'), '[{"question":"Who?"}]');
  for (const [type, purpose, name] of [
    ['qa', 'qa_record_file', 'faq.xlsx'],
    ['text', 'document_file', 'faq.xlsx'],
    ['text', 'document_file', 'faq.json'],
  ] as const) {
    const id = (await run(['collections', 'create', type, '--type', type])).output.trim();
    const added = await run(['records', 'add', id, name, '--wait', '--json'], { folder: home });
    assert.equal(added.code, 0, added.errors);
    assert.match(added.output, /"status":"ready"/);
    const [newest = ''] = (await run(['files', 'list', '--name', name, '--json'])).output.split('\n');
    assert.equal(JSON.parse(newest).purpose, purpose);
  }
});

test('[commands] paths are relative to the folder of the user when npm runs the command in the folder of the clone', async (t) => {
  const { home, run, login } = await openHome(t);
  await login();
  await writeFile(join(home, 'notes.md'), 'Notes.');
  const viaNpm = (...args: readonly string[]) =>
    promisify(execFile)('npm', ['--prefix', process.cwd(), 'run', '-s', 'quartermaster', '--', ...args], {
      cwd: home,
      env: { PATH: process.env.PATH ?? '', HOME: home },
    });
  const file = (await viaNpm('files', 'upload', 'notes.md')).stdout.trim();
  assert.equal((await viaNpm('files', 'download', file, '--out', 'copy.md')).stdout, 'copy.md\n');
  assert.equal(await readFile(join(home, 'copy.md'), 'utf8'), 'Notes.');
  // Settings are relative to the folder of the clone, like those of `npm start`.
  const { code, errors } = await run(['backup', 'copy'], {
    folder: process.cwd(),
    environment: { INIT_CWD: home, npm_lifecycle_event: 'quartermaster', QUARTERMASTER_DATA: 'no-such-folder' },
  });
  assert.equal(code, 1, errors);
  assert.ok(errors.includes(join(process.cwd(), 'no-such-folder')), errors);
  await viaNpm('bundle', 'keygen', 'publisher.key');
  assert.match(await readFile(join(home, 'publisher.key'), 'utf8'), /PRIVATE KEY/);
});

test('[commands] plugins are listed by words and shown with their schemas', async (t) => {
  const { run, login } = await openHome(t);
  await login();
  const listed = await run(['plugins', 'list', 'evaluate', 'CALCULATOR']);
  assert.match(listed.output, /^PLUGIN +EFFECTS +DESCRIPTION\ncalculator\/evaluate +read +\S/);
  const lines = (await run(['plugins', 'list', '--bundle', 'calculator', '--json'])).output.trim().split('\n');
  assert.ok(lines.some((line) => JSON.parse(line).plugin_id === 'evaluate'));
  assert.ok('input_schema' in JSON.parse((await run(['plugins', 'show', 'calculator/evaluate'])).output));
  assert.equal((await run(['plugins', 'show', 'calculator'])).code, 64);
  assert.equal((await run(['plugins', 'list', '--bundle', 'nothing'])).code, 66);
});

test('[commands] commands on the store and on bundles print JSON lines', async () => {
  const json = async (...args: readonly string[]) => {
    const { code, output, errors } = await runCommand(service, ...args, '--json');
    assert.deepEqual([code, errors], [0, ''], args.join(' '));
    return output.split('\n').map((line) => JSON.parse(line));
  };
  const [project] = await json('project', 'create', 'press');
  assert.ok((await json('project', 'list')).some(({ project_id }) => project_id === project.project_id));
  const [key] = await json('key', 'create', 'press', '--name', 'k');
  assert.match(key.key, /^qmk_/);
  const [listed] = await json('key', 'list', 'press');
  assert.deepEqual([listed.key_id, listed.revoked_timestamp, 'hash' in listed], [key.key_id, null, false]);
  assert.deepEqual((await json('key', 'revoke', key.key_id))[0].revoked, [key.key_id]);
  assert.deepEqual(await json('verification', 'pause'), [{ paused: true }]);
  assert.equal((await json('fsck'))[0].open, 0);
  const [checked] = await json('bundle', 'check', 'bundles/calculator');
  assert.deepEqual([checked.bundle_id, checked.errors], ['calculator', []]);
  const missing = await runCommand(service, 'key', 'revoke', 'nothing', '--json');
  assert.equal(missing.code, 1);
  assert.match(JSON.parse(missing.errors).error.message, /nothing/);
});
