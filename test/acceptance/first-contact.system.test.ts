import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startCommand } from '../../scripts/start-command.ts';
import { serve } from '../support/http.ts';
import { startService, temporaryFolder } from '../support/service.ts';

/** Terminal control sequences such as colours. */
const control = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m|\\r`, 'g');

interface Started {
  readonly output: string;
  readonly exitCode: number | null;
}

/** Starts the service on its own terminal. It stops the service after the banner, or reads until the service ends. */
async function startOnTerminal(t: TestContext, settings: Readonly<Record<string, string>>): Promise<Started> {
  const { environment, args } = startCommand();
  const quoted = [process.execPath, ...args].map((word) => `'${word}'`).join(' ');
  const all = { FILES_PORT: '0', PLUGINS_PORT: '0', ...settings };
  const env = Object.fromEntries(Object.entries(all).map(([name, value]) => [`QUARTERMASTER_${name}`, value]));
  // With `exec` the service is the only child of the terminal and receives its hang-up signal.
  const terminal = execFile('script', ['-qefc', `exec ${quoted}`, '/dev/null'], {
    env: { PATH: process.env.PATH ?? '', HOME: await temporaryFolder(t), TERM: 'xterm', ...environment, ...env },
  });
  t.after(() => terminal.kill('SIGKILL'));
  let output = '';
  terminal.stdout?.on('data', (text: string) => {
    output += text.replace(control, '');
    // Ctrl-C as typed by a user.
    if (/Open (this link|the console)[^\n]*\n[^\n]+\n/.test(output)) terminal.stdin?.end('\u0003');
  });
  const [exitCode] = (await once(terminal, 'close')) as [number | null];
  return { output, exitCode };
}

test('on a terminal, a start ends with one banner that has the URL to open, after readable logs', async (t) => {
  const data = await temporaryFolder(t);
  const { output, exitCode } = await startOnTerminal(t, { DATA: data });
  const [before = '', banner = '', ...others] = output.split(
    /\nQuartermaster \S+ is ready\. Press Ctrl-C to stop it\.\n/,
  );
  assert.deepEqual(others, []);
  assert.match(before, /^\d\d:\d\d:\d\d\.\d{3} INFO {2}service started files=http/m);
  assert.doesNotMatch(before, /^\{/m);
  assert.match(banner, /^ {2}first API key {4}qmk_\w+ /m);
  assert.match(
    banner,
    /^ {2}Open this link to create the console account [^\n]+:\n {2}http:\/\/127\.0\.0\.1:\d+\/setup#\S+$/m,
  );
  assert.doesNotMatch(banner.split('/setup#')[0] ?? '', /INFO|WARN/, 'no log line within the banner');
  assert.equal(exitCode, 0);
  const again = await startOnTerminal(t, { DATA: data, PUBLIC_FILES_URL: 'https://documents.example.com' });
  assert.match(again.output, / {2}https:\/\/documents\.example\.com\/setup#/, 'the link leads to the public URL');
});

test('a service on all addresses prints URLs that can be opened and warns of plain HTTP', async (t) => {
  const { output } = await startOnTerminal(t, { DATA: await temporaryFolder(t), HOST: '0.0.0.0' });
  const banner = output.split('is ready.')[1] ?? '';
  assert.match(banner, /files address {4}(http:\/\/\S+ {2})*http:\/\/127\.0\.0\.1:\d+ {3}\(API and console\)\n/);
  assert.doesNotMatch(banner, /\/\/0\.0\.0\.0/);
  assert.match(banner, /warning {10}QUARTERMASTER_HOST is not a loopback address .+ cross the network unencrypted\./);
});

test('every log line of a start, a run and a stop names its fields in snake_case', async (t) => {
  const service = await startService(t, { settings: { HOST: '0.0.0.0', LOG_LEVEL: 'trace' } });
  await service.client.plugins.run('calculator/evaluate', { expression: '6 * 7' });
  assert.equal(await service.stop(), 0);
  const lines = service
    .log()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  const messages = lines.map(({ msg }) => String(msg));
  for (const wanted of [
    'service started',
    'request completed',
    'run ended',
    'service stop requested',
    'service stopped',
  ]) {
    assert.equal(messages.filter((message) => message === wanted).length, 1, wanted);
  }
  for (const { level: _level, msg: _msg, ...fields } of lines) {
    assert.deepEqual(
      namesIn(fields).filter((name) => !/^[a-z]+(_[a-z]+)*$/.test(name)),
      [],
    );
  }
});

function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    ...(Array.isArray(value) ? [] : [name]),
    ...namesIn(member),
  ]);
}

test('a start that fails names the remedy in one sentence', async (t) => {
  const { port } = new URL(await serve(t, () => {}));
  const file = join(await temporaryFolder(t), 'file');
  writeFileSync(file, '');
  const data = await temporaryFolder(t);
  const failures = [
    [
      { DATA: data, FILES_PORT: port },
      `Port ${port} of 127.0.0.1 is in use by another program. Stop that program, or set QUARTERMASTER_FILES_PORT to another port.`,
    ],
    [
      { DATA: data, PLUGINS_PORT: port },
      `Port ${port} of 127.0.0.1 is in use by another program. Stop that program, or set QUARTERMASTER_PLUGINS_PORT to another port.`,
    ],
    [
      { DATA: data, HOST: '192.0.2.77', PLUGINS_PORT: port },
      '192.0.2.77 is not an address of this machine. Set QUARTERMASTER_HOST to one, or to 0.0.0.0 for all of them.',
    ],
    [
      { DATA: '/proc/quartermaster' },
      'The service cannot write to the data folder /proc/quartermaster (ENOENT). Make its user the owner, or set QUARTERMASTER_DATA to a folder that it can write to.',
    ],
    [
      { DATA: file },
      `The data folder ${file} cannot be used, because it or a part of its path is a file. Set QUARTERMASTER_DATA to a folder.`,
    ],
  ] as const;
  for (const [settings, sentence] of failures) {
    const { output, exitCode } = await startOnTerminal(t, settings);
    assert.equal(
      output.split('\n').findLast((line) => line !== ''),
      `quartermaster: ${sentence}`,
    );
    assert.doesNotMatch(output, /^ +at /m, 'no stack');
    assert.equal(exitCode, 1);
  }
});

test('without a terminal, a start that fails logs the reason and the remedy in one line without a stack', async (t) => {
  const { folder } = await startService(t);
  const failed = await startService(t, { folder }).catch((error: Error) => error.message);
  const lines = String(failed).trim().split('\n');
  const { level, msg, reason, cause, err } = JSON.parse(lines.at(-1) ?? '');
  assert.deepEqual(
    { level, msg, reason, cause, err },
    {
      level: 'fatal',
      msg: 'service failed',
      reason: `The data folder ${folder} is in use by another process. Stop that process, or set QUARTERMASTER_DATA to another folder.`,
      cause: 'database is locked',
      err: undefined,
    },
  );
});

test('wrong settings are one log line without a terminal and sentences on a terminal', async (t) => {
  const settings = { DATA: await temporaryFolder(t), FILES_PORT: '99999', LOG_LEVL: 'info' };
  const failed = await startService(t, { settings }).catch((error: Error) => error.message);
  const [first, ...lines] = String(failed).trim().split('\n');
  assert.deepEqual([first, lines.length], ['the service did not start:', 1], String(failed));
  const { level, msg, reason, errors, err } = JSON.parse(lines[0] ?? '');
  assert.deepEqual([level, msg, reason, err], ['fatal', 'service failed', 'The settings are not valid.', undefined]);
  assert.equal(errors.length, 2);
  assert.match(errors.join(' '), /QUARTERMASTER_FILES_PORT must be .*99999/);
  assert.match(errors.join(' '), /QUARTERMASTER_LOG_LEVL .*QUARTERMASTER_LOG_LEVEL/);
  const { output, exitCode } = await startOnTerminal(t, settings);
  const sentences = errors.map((error: string) => `  - ${error}`);
  assert.deepEqual(output.trim().split('\n'), ['quartermaster: The settings are not valid:', ...sentences]);
  assert.equal(exitCode, 1);
});

test('a start without its PostgreSQL server names the setting and the remedy', async (t) => {
  const settings = { DATA: await temporaryFolder(t), DATABASE_URL: 'postgres://127.0.0.1:1/x' };
  const { output, exitCode } = await startOnTerminal(t, settings);
  assert.equal(
    output.split('\n').findLast((line) => line !== ''),
    'quartermaster: PostgreSQL cannot be reached at the address of QUARTERMASTER_DATABASE_URL (connect ECONNREFUSED 127.0.0.1:1). Start the database server, or correct the address.',
  );
  assert.doesNotMatch(output, /^ +at /m, 'no stack');
  assert.equal(exitCode, 1);
});
