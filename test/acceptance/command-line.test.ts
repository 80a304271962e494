import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { type CliRequest, type CliResult, runCli } from '../../packages/cli/src/testing/run-cli.ts';
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
  assert.match(before.errors, /APIKEY_VALIDATION_FAILED: .*Run "quartermaster login"/);

  const { code, output, errors } = await run(['login', `${service.filesUrl}/`], { input: `${service.key}\n` });
  assert.deepEqual([code, errors], [0, '']);
  assert.match(
    output,
    /^Logged in to http:\/\/127\.0\.0\.1:\d+ \(Quartermaster \d+\.\d+\.\d+\)\. Scopes of the key: files, collections, plugins\.\nThe address and the key are stored in .*login\.json\.\n$/,
  );
  assert.equal((await stat(loginFile)).mode & 0o777, 0o600);
  assert.deepEqual(JSON.parse(await readFile(loginFile, 'utf8')), { url: service.filesUrl, api_key: service.key });

  const listed = await run(['run', 'list', '--json']);
  assert.equal(listed.code, 0, listed.errors);
  const json = await run(['login', service.filesUrl, '--json'], { input: service.key });
  assert.deepEqual(JSON.parse(json.output).scopes, ['files', 'collections', 'plugins']);

  assert.match((await run(['logout'])).output, /^Deleted .*login\.json\. The key itself can still be used/);
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
  const foreign = createServer((request, response) => {
    received.push(String(request.headers.authorization));
    response.end('<html>\u001b[2Jsign in\u009b31m</html>');
  }).listen(0, '127.0.0.1');
  t.after(() => foreign.close());
  await once(foreign, 'listening');
  const { port } = foreign.address() as AddressInfo; // it listens on TCP
  const wrong = [
    [[`http://127.0.0.1:${port}`], service.key, 65, /^quartermaster: UNREADABLE_ANSWER: .*sign in/],
    [['http://127.0.0.1:1'], service.key, 69, /^quartermaster: No Quartermaster service answers\./],
    [[service.filesUrl], 'qmk_wrong', 77, /^quartermaster: APIKEY_VALIDATION_FAILED: /],
    [[service.filesUrl], '', 64, /^quartermaster: The API key must be one line without spaces\.$/m],
    [[service.filesUrl], 'a\nb', 64, /^quartermaster: The API key must be one line without spaces\.$/m],
    [['ftp://x'], service.key, 64, /^quartermaster: The URL must be an http or https URL\.$/m],
    [[service.filesUrl, '--unknown'], service.key, 64, /unknown option '--unknown'/],
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
    'the key is not sent to a server that is no Quartermaster',
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
    [['--input', '{'], 65, /^quartermaster: --input must be JSON\.$/m],
    [['--input', '[]'], 65, /^quartermaster: --input must be a JSON object\.$/m],
    [['--input', '{"expression":5}'], 65, /^quartermaster: REQUEST_VALIDATION_ERROR: body\/input_params\/expression /],
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
  assert.deepEqual([unknown.code, JSON.parse(unknown.errors).error.code], [66, 'OBJECT_NOT_FOUND']);
  assert.equal((await run(['run', 'lst'])).code, 64);
});
