import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { Quartermaster } from '@quartermaster/client';
import { commandEnvironment } from '../../../test/support/command-environment.ts';
import { checkUrl, readKeyFile } from './connection/connection.ts';
import { CommandError, exitCodes } from './exit-codes.ts';

const main = join(import.meta.dirname, 'main.ts');

function start(args: readonly string[], settings: Readonly<Record<string, string>> = {}) {
  const env = { ...commandEnvironment, ...settings };
  return spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env });
}

async function run(args: readonly string[]) {
  const child = start(args);
  const [[code], output, errors] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  return { code, output, errors };
}

async function temporaryFile(t: TestContext, content: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-cli-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'key'), content);
  return join(folder, 'key');
}

/**
 * Starts a service that answers every request with these data, in the envelope of docs/contract.md "Both addresses".
 */
async function answering(t: TestContext, data: unknown): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ status: 'success', data, fetched_count: 0, has_more: false }));
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return `http://127.0.0.1:${address.port}`;
}

test('a command does not repeat a secret that it cannot use', async (t) => {
  for (const content of ['qmk_first\nqmk_second\n', 'qmk_\u00e9t\u00e9', 'qmk_\u{1f600}', ' \n']) {
    const file = await temporaryFile(t, content);
    await assert.rejects(
      readKeyFile(file),
      new CommandError(exitCodes.usage, `--key-file: ${file} must hold one API key, alone on its line.`),
    );
    if (content.trim() === '') continue;
    assert.throws(
      () => new Quartermaster({ baseUrl: 'http://127.0.0.1:9', apiKey: content }),
      new TypeError('apiKey must be an API key without spaces and line breaks.'),
    );
  }
  assert.equal(await readKeyFile(await temporaryFile(t, 'qmk_one\n')), 'qmk_one');
  for (const wrong of ['http://me:hunter2@127.0.0.1:9', 'http://127.0.0.1:9/?hunter2', 'ftp://hunter2', 'hunter2 ']) {
    assert.throws(() => checkUrl('--url', wrong), /^CommandError: --url must (?:be|not contain) (?!.*hunter2)/);
  }
  assert.equal(checkUrl('--url', 'https://example.com/base/'), 'https://example.com/base');
});

test('control characters in foreign text do not reach the terminal, and JSON output is unchanged', async (t) => {
  const payload = { message: 'a\u009b31mb\u202ec\u2028d\u007f \u{1f600}' };
  const { code, output } = await run(['run', 'show', 'x', '--url', await answering(t, payload)]);
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(output), payload);
  assert.match(output, /a\\u009b31mb\\u202ec\\u2028d\\u007f \u{1f600}/u);
});

test('a command whose reader has gone ends silently, and a service continues', async (t) => {
  const api = await answering(
    t,
    Array.from({ length: 5_000 }, (_, at) => ({ run_id: `run${at}`, bundle_id: 'b' })),
  );
  const listing = start(['run', 'list', '--json', '--url', api]);
  listing.stdout.destroy();
  const [errors, [code]] = await Promise.all([text(listing.stderr), once(listing, 'close')]);
  assert.deepEqual([errors, code], ['', 141]);

  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-cli-'));
  t.after(() => rm(folder, { recursive: true }));
  const settings = {
    QUARTERMASTER_DATA: folder,
    QUARTERMASTER_FILES_PORT: '0',
    QUARTERMASTER_PLUGINS_PORT: '0',
    QUARTERMASTER_DRAIN_SECONDS: '0',
  };
  const service = start(['start'], settings);
  t.after(() => service.kill('SIGKILL'));
  service.stdout.destroy();
  const [, url] = await hears(service, /"plugins":"(http:[^"]+)".*"service started"/);
  for (let i = 0; i < 20; i++) assert.equal((await fetch(`${url}/v1/health_check`)).status, 200);
  service.kill('SIGTERM');
  assert.deepEqual(await once(service, 'exit'), [0, null]);
});

/** Returns the match when the standard error of the process matches. */
async function hears({ stderr }: ChildProcess, words: RegExp): Promise<RegExpExecArray> {
  let received = '';
  for await (const chunk of stderr?.iterator({ destroyOnReturn: false }) ?? []) {
    received += chunk;
    const found = words.exec(received);
    if (found !== null) {
      stderr?.resume();
      return found;
    }
  }
  throw new Error(`never heard ${words}: ${received}`);
}
