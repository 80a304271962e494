import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../bench/processes.ts';
import { startService, temporaryFolder } from '../support/service.ts';

for (const words of ['start', 'run quartermaster -- start']) {
  test(`[operations] SIGTERM to npm ${words} stops the service: npm ends with 0, ports and data folder are free`, async (t) => {
    const folder = await temporaryFolder(t);
    const npm = start(t, ['npm', ...words.split(' ')], { DATA: folder, DRAIN_SECONDS: '0', LOG_LEVEL: 'info' });
    const url = await npm.pluginsUrl;
    assert.equal((await fetch(`${url}/v1/ready`)).status, 200);
    npm.process.kill('SIGTERM');
    assert.deepEqual(await once(npm.process, 'exit'), [0, null], npm.log());
    await assert.rejects(fetch(`${url}/v1/ready`), 'nothing listens any more');
    const again = await startService(t, { folder });
    assert.equal(await again.stop(), 0);
  });
}

test('[operations] a Ctrl-C that reaches the service from the terminal and again from npm counts once', async (t) => {
  const npm = start(t, ['npm', 'start'], { DATA: await temporaryFolder(t), DRAIN_SECONDS: '0' });
  await npm.pluginsUrl;
  // A terminal sends the signal to every process of the group.
  process.kill(-(npm.process.pid ?? 0), 'SIGINT');
  assert.deepEqual(await once(npm.process, 'exit'), [0, null], npm.log());
});

test('[operations] while the service drains, readiness is 503, the addresses stay open and each response closes its connection; a second signal ends it immediately', async (t) => {
  const service = await startService(t, { settings: { DRAIN_SECONDS: '3600' } });
  const upload = await beginUpload(service.filesUrl, service.key);
  const idle = await openConnection(service.pluginsUrl);
  assert.match(await idle.ask('/v1/version'), /^HTTP\/1\.1 200 .*keep-alive/s);

  service.process.kill('SIGTERM');
  let ready = await fetch(`${service.filesUrl}/v1/ready`);
  while (ready.status === 200) ready = await fetch(`${service.filesUrl}/v1/ready`);
  assert.deepEqual([ready.status, ready.headers.get('connection')], [503, 'close']);
  for (const url of [service.filesUrl, service.pluginsUrl]) {
    const answer = await fetch(`${url}/v1/version`);
    assert.deepEqual([answer.status, answer.headers.get('connection')], [200, 'close'], 'a new connection is served');
  }
  assert.match(await idle.ask('/v1/version'), /^HTTP\/1\.1 200 .*connection: close/is, 'an old one too');
  await idle.ended;
  assert.match(await upload.finish(), /^HTTP\/1\.1 200 .*connection: close/is, 'what was in flight is finished');

  const exit = once(service.process, 'exit');
  let code: unknown;
  void exit.then((ended) => {
    code = ended[0];
  });
  // Signals that arrive close together count as one, so the loop sends more.
  while (code === undefined) {
    service.process.kill('SIGTERM');
    await Promise.race([exit, pause(50)]);
  }
  assert.equal(code, 1);
});

test('[operations] a stop signal that comes as soon as an address accepts connections ends the service in order', async (t) => {
  const port = await freePort();
  const settings = { DATA: await temporaryFolder(t), FILES_PORT: port, DRAIN_SECONDS: '0' };
  const service = start(t, [process.execPath, 'packages/cli/src/main.ts', 'start'], settings);
  const exit = once(service.process, 'exit');
  while (!(await accepts(Number(port)))) await Promise.race([exit, pause(1)]);
  service.process.kill('SIGTERM');
  assert.deepEqual(await exit, [0, null], service.log());
});

test('[operations] SIGUSR1 opens no debugger in a service that the bare command started', async (t) => {
  const settings = { DATA: await temporaryFolder(t), DRAIN_SECONDS: '0' };
  const service = start(t, [process.execPath, 'packages/cli/src/main.ts', 'start'], settings);
  await service.pluginsUrl;
  service.process.kill('SIGUSR1');
  while (!/debugger/i.test(service.log())) await once(service.process.stderr, 'data');
  assert.match(service.log(), /"debugger refused"/);
  service.process.kill('SIGTERM');
  assert.deepEqual(await once(service.process, 'exit'), [0, null]);
  assert.doesNotMatch(service.log(), /Debugger listening/);
});

for (const [name, program] of [
  ['bare command', ['packages/cli/src/main.ts', 'start']],
  ['program of the service', ['packages/server/src/main.ts']],
] as const) {
  test(`[operations] SIGUSR1 opens no debugger while the ${name} is being loaded`, async (t) => {
    const settings = { DATA: await temporaryFolder(t), DRAIN_SECONDS: '0' };
    const hook = new URL('../support/signal-while-loading.ts', import.meta.url).href;
    const service = start(t, [process.execPath, `--import=${hook}`, ...program], settings);
    await service.pluginsUrl;
    service.process.kill('SIGTERM');
    assert.deepEqual(await once(service.process, 'close'), [0, null]);
    assert.match(service.log(), /signal sent while loading/);
    assert.doesNotMatch(service.log(), /Debugger listening/);
  });
}

test('[operations] a log reader that takes nothing delays no response, and delays the end by seconds only', async (t) => {
  const settings = { DATA: await temporaryFolder(t), DRAIN_SECONDS: '0' };
  const service = start(t, [process.execPath, 'packages/cli/src/main.ts', 'start'], settings);
  const url = await service.pluginsUrl;
  service.process.stderr.pause();
  // These log lines exceed the buffers of a pipe and its reader.
  for (let count = 0; count < 4_000; count += 100) {
    const answers = await Promise.all(Array.from({ length: 100 }, () => fetch(`${url}/v1/version`)));
    for (const answer of answers) {
      await answer.arrayBuffer();
      assert.equal(answer.status, 200);
    }
  }
  service.process.kill('SIGTERM');
  assert.deepEqual(await once(service.process, 'exit'), [0, null]);
});

/** Starts a command as a user types it, in a separate process group. */
function start(t: TestContext, [program = '', ...args]: readonly string[], settings: Readonly<Record<string, string>>) {
  const all = { FILES_PORT: '0', PLUGINS_PORT: '0', ...settings };
  const env = Object.fromEntries(Object.entries(all).map(([name, value]) => [`QUARTERMASTER_${name}`, value]));
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...env },
    detached: true,
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  t.after(() => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    } catch {
      // The whole group has already ended.
    }
  });
  return { process: child, log: () => log, pluginsUrl: readPluginsUrl(child) };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy());
  });
}

async function readPluginsUrl(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('its output is a pipe');
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /plugins address +(http:\/\/\S+)/.exec(line)?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    return url;
  }
  throw new Error('the service did not start');
}

async function openSocket(
  url: string,
): Promise<{ socket: Socket; received(): string; until(pattern: RegExp): Promise<string> }> {
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  let received = '';
  socket.setEncoding('utf8').on('data', (text) => {
    received += text;
  });
  return {
    socket,
    received: () => received,
    async until(pattern) {
      while (!pattern.test(received)) await once(socket, 'data');
      const text = received;
      received = '';
      return text;
    },
  };
}

/** Opens a connection that stays open between requests. */
async function openConnection(url: string) {
  const { socket, until } = await openSocket(url);
  return {
    ended: once(socket, 'end'),
    ask(path: string): Promise<string> {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      return until(/\r\n\r\n.*\}/s);
    },
  };
}

/** Begins an upload of which the service has read only the head. */
async function beginUpload(url: string, key: string) {
  const body =
    '--xyz\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nrecord_file\r\n' +
    '--xyz\r\nContent-Disposition: form-data; name="file"; filename="late.txt"\r\n\r\nlate\r\n--xyz--\r\n';
  const { socket, until } = await openSocket(url);
  socket.write(
    `POST /v1/files HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: multipart/form-data; boundary=xyz\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
  );
  await until(/^HTTP\/1\.1 100 .*\r\n\r\n/s);
  return {
    finish(): Promise<string> {
      socket.write(body);
      return until(/\r\n\r\n.*\}/s);
    },
  };
}
