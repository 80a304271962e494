import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { type FilesService, startFilesService } from './testing/files-service.ts';
import { formBody, head } from './testing/form.ts';
import { readAnswer } from './testing/raw-answer.ts';
import { until } from './testing/until.ts';

describe('an upload that does not come to its end', () => {
  let service: FilesService;
  before(async () => {
    service = await startFilesService({ idle: 200 });
  });
  after(() => service.stop());

  async function assertNothingIsLeft(): Promise<void> {
    await until('an end of all uploads', () => service.admissions.inFlight('projecta') === 0);
    await until('an empty staging folder', async () => (await service.onDisk()).staging.length === 0);
    assert.deepEqual((await service.onDisk()).blobs, []);
    assert.deepEqual(
      [await service.rows('file'), await service.rows('blob'), await service.rows('idempotency')],
      [[], [], []],
    );
  }

  const large = formBody({ content: randomBytes(3_000_000).toString('hex') });
  const small = formBody();
  const cuts: Record<string, [body: Buffer, sent: number]> = {
    'with nothing of a small body sent': [small, 0],
    'in the headers of a part': [small, 40],
    'in a small file': [small, small.length - 60],
    'at the last byte of a small body': [small, small.length - 1],
    'in the middle of a large file': [large, 3_000_000],
    'at the last byte of a large body': [large, large.length - 1],
  };
  for (const [name, [body, sent]] of Object.entries(cuts)) {
    for (const way of ['destroy', 'end', 'resetAndDestroy'] as const) {
      test(`leaves nothing: cut ${name} (${way})`, async () => {
        const socket = service.connect();
        socket.on('error', () => {});
        await once(socket, 'connect');
        socket.write(head(body, { key: `cut-${name}-${way}` }));
        if (sent > 0) await new Promise<void>((resolve) => void socket.write(body.subarray(0, sent), () => resolve()));
        await until('an upload', () => service.admissions.inFlight('projecta') === 1);
        socket.resume();
        if (way === 'end') socket.end();
        else socket[way]();
        await assertNothingIsLeft();
        socket.destroy();
      });
    }
  }

  test('fifty concurrent uploads, each cut at a different place, leave nothing behind', async () => {
    await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const socket = service.connect();
        socket.on('error', () => {});
        socket.write(head(large));
        await new Promise<void>((resolve) => void socket.write(large.subarray(0, index * 20_000 + 1), () => resolve()));
        socket.destroy();
        await once(socket, 'close');
      }),
    );
    await assertNothingIsLeft();
  });

  test('an upload shorter than its Content-Length is refused although its final boundary arrived', async () => {
    const socket = service.connect();
    socket.on('error', () => {});
    socket.write(head(small, { length: 5000 }));
    socket.write(small);
    await until('an upload', () => service.admissions.inFlight('projecta') === 1);
    socket.end();
    await assertNothingIsLeft();
    socket.destroy();
  });

  test('an upload whose Content-Length ends before the final boundary is refused', async () => {
    const answer = await service.send([head(small, { length: small.length - 10 }), small]);
    assert.equal(answer.status, 400);
    assert.equal(answer.json?.error.code, 'INVALID_REQUEST');
    await assertNothingIsLeft();
  });

  test('an upload without further bytes is aborted with REQUEST_TIMEOUT', async () => {
    const socket = service.connect();
    socket.write(head(small, { key: 'slow' }));
    socket.write(small.subarray(0, 50));
    const answer = await readAnswer(socket);
    assert.equal(answer.status, 408);
    assert.equal(answer.json?.error.code, 'REQUEST_TIMEOUT');
    assert.equal(answer.headers.get('connection'), 'close');
    socket.destroy();
    await assertNothingIsLeft();
  });

  test('an aborted upload frees its idempotency key immediately', async () => {
    const socket = service.connect();
    socket.on('error', () => {});
    socket.write(head(small, { key: 'again' }));
    await until('an upload', () => service.admissions.inFlight('projecta') === 1);
    const meanwhile = await service.send([head(small, { key: 'again' }), small]);
    assert.equal(meanwhile.status, 409);
    socket.destroy();
    await assertNothingIsLeft();
    const answer = await service.send([head(small, { key: 'again' }), small]);
    assert.equal(answer.status, 200);
  });
});

test('an upload whose transaction fails leaves no bytes behind, and frees its key', async () => {
  const service = await startFilesService();
  const body = formBody();
  const rename = (from: string, to: string) =>
    sql.raw(`alter table ${from} rename to ${to}`).execute(service.database.write);
  await rename('file', 'away');
  const answer = await service.send([head(body, { key: 'key' }), body]);
  assert.equal(answer.status, 500);
  assert.deepEqual(await service.onDisk(), { staging: [], blobs: [] });
  await rename('away', 'file');
  assert.equal((await service.send([head(body, { key: 'key' }), body])).status, 200);
  await service.stop();
});

test('a slow but steady upload is not aborted', async () => {
  const service = await startFilesService({ idle: 400 });
  const body = formBody({ content: 'x'.repeat(100) });
  const socket = service.connect();
  socket.setNoDelay(true);
  socket.write(head(body));
  const answer = readAnswer(socket);
  const start = performance.now();
  for (let at = 0; at < body.length; at += 20) {
    socket.write(body.subarray(at, at + 20));
    await until('a moment', () => performance.now() - start > at * 4);
  }
  assert.equal((await answer).status, 200);
  socket.destroy();
  await service.stop();
});
