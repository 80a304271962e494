import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Problem } from '../problem.ts';
import { until } from '../testing/until.ts';
import { type LingerLimits, lingering } from './client-error.ts';
import { listen } from './listen.ts';
import { createTestApp } from './testing/test-app.ts';

const limits: LingerLimits = { bytes: 1024 * 1024, milliseconds: 60_000, connections: 1 };

/** Serves an address that refuses every request before it reads the body. */
async function serve(t: TestContext, options: { linger?: LingerLimits; keepAliveMs?: number } = {}) {
  const app = createTestApp({ ...options });
  const refuse = async () => {
    throw new Problem('APIKEY_VALIDATION_FAILED', 'no');
  };
  app.post('/v1/locked', { onRequest: refuse }, async () => ({}));
  const server = await listen(app, { host: '127.0.0.1', port: 0, setting: 'QUARTERMASTER_FILES_PORT' });
  t.after(() => server.close(0));
  return Number(new URL(server.url).port);
}

/** Opens a connection and sends the headers of a request. */
function open(port: number, bytes: number) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const answer = { text: '', isClosed: false };
  socket.on('error', () => {});
  socket.on('close', () => {
    answer.isClosed = true;
  });
  socket.on('data', (data) => {
    answer.text += data;
  });
  socket.write(
    `POST /v1/locked HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`,
  );
  return { socket, answer };
}

/** Sends until the service has closed both directions. It reads a connection that it has closed in one direction. */
async function resets({ socket, answer }: ReturnType<typeof open>): Promise<void> {
  await once(socket, 'end');
  await until(async () => {
    socket.write('a');
    return answer.isClosed;
  });
}

test('the limit refused_body_bytes accepts a body of that size, and closes the connection of a larger one', async (t) => {
  const port = await serve(t, { linger: limits });
  const whole = open(port, limits.bytes);
  whole.socket.write(Buffer.alloc(limits.bytes));
  await once(whole.socket, 'end');
  whole.socket.end();
  assert.match(whole.answer.text, /^HTTP\/1\.1 401 [\s\S]*\r\nconnection: close\r\n/i);

  const total = 256 * 1024 * 1024;
  const large = open(port, total);
  let sent = 0;
  while (!large.answer.isClosed && sent < total) {
    sent += limits.bytes;
    if (large.socket.write(Buffer.alloc(limits.bytes))) continue;
    await Promise.race([once(large.socket, 'drain'), once(large.socket, 'close')]).catch(() => {});
  }
  assert.ok(sent < total, `${sent} bytes sent`);
  await until(async () => large.answer.isClosed && whole.answer.isClosed && lingering.connections === 0);
});

test('the limit refused_bodies lets that many connections send, and closes others directly after the response', async (t) => {
  const port = await serve(t, { linger: limits });
  const first = open(port, 1000);
  await until(async () => lingering.connections === 1 && first.answer.text.startsWith('HTTP/1.1 401 '));
  const second = open(port, 1000);
  await resets(second);
  assert.match(second.answer.text, /^HTTP\/1\.1 401 /);
  assert.equal(first.answer.isClosed, false);
  first.socket.end(Buffer.alloc(1000));
  await until(async () => first.answer.isClosed && lingering.connections === 0);
  const third = open(port, 1000);
  await until(async () => lingering.connections === 1);
  third.socket.destroy();
  await until(async () => lingering.connections === 0);
});

test('a body that does not end is read for a limited time', async (t) => {
  const port = await serve(t, { linger: { ...limits, milliseconds: 50 } });
  const connection = open(port, 1000);
  await resets(connection);
  await until(async () => lingering.connections === 0);
  assert.match(connection.answer.text, /^HTTP\/1\.1 401 /);
});

test('an idle connection is announced and closed after its time', async (t) => {
  const send = async (port: number) => {
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    socket.write('GET /v1/nothing HTTP/1.1\r\nHost: a\r\n\r\n');
    const [text] = await once(socket, 'data');
    t.after(() => socket.destroy());
    return { socket, text: String(text) };
  };
  const usual = await send(await serve(t));
  assert.match(usual.text, /\r\nkeep-alive: timeout=620\r\n/i);
  const short = await send(await serve(t, { keepAliveMs: 1000 }));
  assert.match(short.text, /\r\nkeep-alive: timeout=1\r\n/i);
  await once(short.socket, 'close');
  assert.equal(usual.socket.closed, false);
});
