import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { createMetrics } from '../metrics.ts';
import { createRequestMetrics } from './request-metrics.ts';
import type { ReaderLimits } from './slow-readers.ts';
import { createTestApp } from './testing/test-app.ts';

const mebibyte = 1024 * 1024;
const answerBytes = 16 * mebibyte;

async function startApp(t: TestContext, readers: ReaderLimits) {
  const metrics = createMetrics();
  const app = createTestApp({ requestMetrics: createRequestMetrics(metrics), readers });
  app.get('/text', async () => 'ä'.repeat(answerBytes / 2));
  app.get('/late', async (_request, reply) => {
    if (!reply.raw.closed) await once(reply.raw, 'close');
    return 'ä'.repeat(answerBytes / 2);
  });
  app.get('/small', async () => ({ small: true }));
  app.get('/stream', async () => Readable.from(endlessly(Buffer.alloc(64 * 1024)), { objectMode: false }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  t.after(async () => {
    app.server.closeAllConnections();
    await app.close();
  });
  const { port } = app.server.address() as AddressInfo;
  const ended = async (reason: string) => {
    const line = (await metrics.metrics()).match(
      new RegExp(`readers_ended_total\\{address="files",reason="${reason}"\\} (\\d+)`),
    );
    return Number(line?.[1] ?? 0);
  };
  return { url: `http://127.0.0.1:${port}`, port, ended };
}

function* endlessly(chunk: Buffer): Generator<Buffer> {
  for (;;) yield chunk;
}

/** Sends a request and reads only the beginning of the response. */
async function askWithoutReading(t: TestContext, port: number, path: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  await once(socket, 'readable');
  return socket;
}

const patient: ReaderLimits = { idleMs: 60_000, mostBytes: 1024 * mebibyte, stuckMs: 60_000 };

test('a large response arrives complete, with its length', async (t) => {
  const { url, ended } = await startApp(t, patient);
  const answer = await fetch(`${url}/text`);
  assert.equal(answer.headers.get('content-length'), String(answerBytes));
  assert.equal((await answer.bytes()).length, answerBytes);
  const head = await fetch(`${url}/text`, { method: 'HEAD' });
  assert.deepEqual([head.status, (await head.bytes()).length], [200, 0]);
  assert.deepEqual([await ended('idle'), await ended('memory')], [0, 0]);
});

for (const path of ['/text', '/stream']) {
  test(`a client that does not read ${path} is disconnected after the time without progress, and counted`, async (t) => {
    const { port, ended } = await startApp(t, { ...patient, idleMs: 300 });
    const socket = await askWithoutReading(t, port, path);
    // The test reads the bytes that the system has buffered. The connection then ends before the response does.
    let bytes = 0;
    socket.pause();
    await untilCounted(() => ended('idle'), 1);
    socket.on('data', (chunk) => {
      bytes += chunk.length;
    });
    socket.resume();
    await once(socket, 'close');
    assert.ok(path === '/stream' || bytes < answerBytes, `${bytes}`);
  });
}

test('a slow but steady reader gets the whole response', async (t) => {
  const { port, ended } = await startApp(t, { ...patient, idleMs: 1_000 });
  const socket = await askWithoutReading(t, port, '/text');
  const began = performance.now();
  let bytes = 0;
  // Sixteen pauses of 100 ms together exceed the time that is allowed without progress.
  while (bytes < answerBytes) {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) await once(socket, 'readable');
    else bytes += chunk.length;
    if (performance.now() - began < 1_600) await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.equal(await ended('idle'), 0);
});

test('responses that wait for slow clients use a bounded number of bytes, and other requests are answered', async (t) => {
  const { port, url, ended } = await startApp(t, { ...patient, mostBytes: 4 * answerBytes, stuckMs: 0 });
  for (let n = 0; n < 20; n += 1) await askWithoutReading(t, port, '/text');
  assert.equal(await ended('memory'), 16, 'four wait, the others gave way');
  assert.equal((await fetch(`${url}/small`)).status, 200);
  assert.equal((await (await fetch(`${url}/text`)).bytes()).length, answerBytes);
});

test('while all readers make progress, a further large response is refused temporarily', async (t) => {
  const { port, url, ended } = await startApp(t, { ...patient, mostBytes: 2 * answerBytes, stuckMs: 60_000 });
  for (let n = 0; n < 2; n += 1) await askWithoutReading(t, port, '/text');
  const refused = await fetch(`${url}/text`);
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1']);
  const { error } = (await refused.json()) as { error: { code: string } };
  assert.equal(error.code, 'SERVICE_UNAVAILABLE');
  assert.equal(await ended('memory'), 0);
});

test('a response whose client disconnects before it is ready does not count as waiting', async (t) => {
  const { url, port } = await startApp(t, { ...patient, mostBytes: answerBytes });
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => {});
  socket.write('GET /late HTTP/1.1\r\nHost: a\r\n\r\n');
  await fetch(`${url}/small`);
  socket.destroy();
  await fetch(`${url}/small`);
  assert.equal((await fetch(`${url}/text`)).status, 200);
});

/** Polls until the count is reached. */
async function untilCounted(count: () => Promise<number>, wanted: number): Promise<void> {
  while ((await count()) < wanted) await new Promise((resolve) => setTimeout(resolve, 20));
}
