import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import type { Injection } from '@quartermaster/plugin-kit';
import type { EgressRequest } from '../../platform/outbound.ts';
import type { EgressPolicy } from './broker.ts';
import { apiHost, apiOrigin, never, policyFor, secretsOf, startBroker, startServer } from './testing/broker.suite.ts';

describe('the broker', () => {
  it('sends method, path, query, headers and body unchanged, with its own user agent', async (t) => {
    const upstream = await startServer(t, (_request, response) => response.end('ok'));
    const broker = startBroker(t, { overrides: new Map([[apiOrigin, upstream.origin]]) });
    const query = [
      ['q', 'a b&c=d#/ü'],
      ['q', '2'],
    ] as const;
    const request = { method: 'POST', url: `${apiOrigin}/a%20b/c?x=1`, query, headers: { 'X-A': 'b' }, body: 'hé' };
    const result = await broker.send(request, policyFor(), never);
    assert.equal(result.kind === 'response' && result.body.toString(), 'ok');
    const [received] = upstream.requests;
    assert.equal(received?.method, 'POST');
    assert.equal(received?.url, '/a%20b/c?x=1&q=a%20b%26c%3Dd%23%2F%C3%BC&q=2');
    assert.equal(received?.headers['x-a'], 'b');
    assert.equal(received?.headers['user-agent'], 'Quartermaster/1.2.3');
    assert.equal(received?.headers.host, new URL(upstream.origin).host);
    assert.equal(received?.body, 'hé');
  });

  it('names the contact of the operator in User-Agent, unless the request has its own', async (t) => {
    const upstream = await startServer(t, (_request, response) => response.end('ok'));
    const overrides = new Map([[apiOrigin, upstream.origin]]);
    const broker = startBroker(t, { overrides, contact: 'ops@example.org' });
    const own = { 'User-Agent': 'DiscordBot (https://example.org, 1)' };
    await broker.send({ method: 'GET', url: `${apiOrigin}/` }, policyFor(), never);
    await broker.send({ method: 'GET', url: `${apiOrigin}/`, headers: own }, policyFor(), never);
    assert.deepEqual(
      upstream.requests.map(({ headers }) => headers['user-agent']),
      ['Quartermaster/1.2.3 (ops@example.org)', own['User-Agent']],
    );
  });

  it('keeps connections alive and reuses them', async (t) => {
    const upstream = await startServer(t, (_request, response) => response.end('ok'));
    const broker = startBroker(t, { overrides: new Map([[apiOrigin, upstream.origin]]) });
    for (let i = 0; i < 20; i += 1) await broker.send({ method: 'GET', url: `${apiOrigin}/` }, policyFor(), never);
    // The second connection is opened while the first is not yet known to be idle.
    assert.ok(upstream.connections() <= 2, String(upstream.connections()));
  });

  it('answers a call although a hundred others to the same third party have no answer', async (t) => {
    const waiting = Promise.withResolvers<void>();
    let unanswered = 0;
    const upstream = await startServer(t, (request, response) => {
      if (request.url === '/quick') return void response.end('ok');
      unanswered += 1;
      if (unanswered === 100) waiting.resolve();
    });
    const broker = startBroker(t, { overrides: new Map([[apiOrigin, upstream.origin]]) });
    const leaving = new AbortController();
    const send = (path: string, signal: AbortSignal) =>
      broker.send({ method: 'GET', url: apiOrigin + path }, policyFor({ timeoutMs: 30_000 }), signal);
    const others = Promise.allSettled(Array.from({ length: 100 }, () => send('/endless', leaving.signal)));
    await Promise.race([waiting.promise, others]);
    assert.equal((await send('/quick', never)).kind, 'response');
    leaving.abort();
    for (const other of await others) assert.equal(other.status, 'rejected', 'a call ended by its time limit');
  });

  it('repeats a read once when a kept-alive connection was closed, but never a write', async (t) => {
    // Each connection serves one request. The server closes it at the second request, before any response.
    const upstream = await startServer(t, (request, response) => {
      const socket = request.socket as typeof request.socket & { served?: boolean }; // a mark of this test
      if (socket.served === true) socket.destroy();
      else response.end('ok');
      socket.served = true;
    });
    const broker = startBroker(t, { overrides: new Map([[apiOrigin, upstream.origin]]) });
    const send = (method: string) => broker.send({ method, url: `${apiOrigin}/` }, policyFor(), never);
    assert.equal((await send('GET')).kind, 'response');
    await setImmediate(); // the connection becomes idle
    assert.equal((await send('GET')).kind, 'response');
    await setImmediate();
    assert.equal((await send('POST')).kind, 'unreachable');
    assert.deepEqual(
      upstream.requests.map(({ method }) => method),
      ['GET', 'GET', 'GET', 'POST'],
    );
  });

  const packings = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, 'bare deflate': deflateRawSync };
  for (const [name, pack] of Object.entries(packings)) {
    it(`decompresses ${name}, and stops when the result exceeds the limit`, async (t) => {
      // Compresses in advance, because on a busy machine that takes longer than the time limit of a call.
      const [small, bomb] = [50_000, 64 * 1024 * 1024].map((size) => pack(Buffer.alloc(size, 'a')));
      const upstream = await startServer(t, (request, response) => {
        const body = request.url === '/bomb' ? bomb : small;
        response.writeHead(200, { 'Content-Encoding': name.split(' ').at(-1) }).end(body);
      });
      const broker = startBroker(t, { overrides: new Map([[apiOrigin, upstream.origin]]) });
      const get = (path: string) =>
        broker.send({ method: 'GET', url: apiOrigin + path }, policyFor({ maxResponseBytes: 60_000 }), never);
      const answer = await get('/small');
      assert.equal(answer.kind === 'response' && answer.body.length, 50_000);
      assert.equal((await get('/bomb')).kind, 'too_large');
    });
  }

  it('refuses a response that cannot be decompressed', async (t) => {
    const upstream = await startServer(t, (request, response) => {
      response.writeHead(200, { 'Content-Encoding': request.url === '/odd' ? 'zstd' : 'gzip' }).end('not packed');
    });
    const broker = startBroker(t, { overrides: new Map([[apiOrigin, upstream.origin]]) });
    for (const path of ['/odd', '/broken']) {
      assert.equal(
        (await broker.send({ method: 'GET', url: apiOrigin + path }, policyFor(), never)).kind,
        'unreachable',
      );
    }
  });

  it('ends an endless body at the limit and closes the connection', async (t) => {
    const closed = Promise.withResolvers<void>();
    const upstream = await startServer(t, (_request, response) => {
      const write = () => {
        while (response.write(Buffer.alloc(16_384)));
      };
      response.on('drain', write).on('close', closed.resolve);
      write();
    });
    const broker = startBroker(t, { overrides: new Map([[apiOrigin, upstream.origin]]) });
    assert.equal((await broker.send({ method: 'GET', url: apiOrigin }, policyFor(), never)).kind, 'too_large');
    await closed.promise;
  });

  it('ends a dripping body and a silent upstream at the time limit', async (t) => {
    const upstream = await startServer(t, (request, response) => {
      if (request.url === '/silent') return;
      const drip = setInterval(() => response.write('.'), 10);
      response.on('close', () => clearInterval(drip));
    });
    const broker = startBroker(t, { overrides: new Map([[apiOrigin, upstream.origin]]) });
    for (const path of ['/silent', '/drip']) {
      const result = await broker.send({ method: 'GET', url: apiOrigin + path }, policyFor({ timeoutMs: 150 }), never);
      assert.deepEqual(result, { kind: 'timed_out', limitMs: 150 });
    }
  });

  it('reports oversized headers and failed connections without repeating text of the upstream', async (t) => {
    const upstream = await startServer(t, (request, response) => {
      if (request.url === '/cut') request.socket.destroy();
      else response.writeHead(200, { 'X-Big': 'a'.repeat(70_000) }).end();
    });
    const gone = await startServer(t, () => {});
    const overrides = new Map([
      [apiOrigin, upstream.origin],
      ['https://gone.example.com', 'http://127.0.0.1:1'],
    ]);
    const broker = startBroker(t, { overrides });
    const policy = policyFor({ hosts: new Set([apiHost, 'gone.example.com', 'nowhere.example.com']) });
    const get = async (url: string) => {
      const result = await broker.send({ method: 'POST', url }, policy, never);
      return result.kind === 'unreachable' ? result.message : result.kind;
    };
    assert.match(await get(`${apiOrigin}/big`), /headers of the answer are too large/);
    assert.match(await get(`${apiOrigin}/cut`), /connection was closed/);
    assert.match(await get('https://gone.example.com/'), /connection was refused/);
    assert.match(await get('https://nowhere.example.com/'), /host name does not exist/);
    assert.equal(gone.connections(), 0);
  });

  it('rejects and closes the connection when the caller disconnects', async (t) => {
    const arrived = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const upstream = await startServer(t, (request) => {
      request.socket.on('close', () => closed.resolve());
      arrived.resolve();
    });
    const broker = startBroker(t, { overrides: new Map([[apiOrigin, upstream.origin]]) });
    const controller = new AbortController();
    const sent = broker.send({ method: 'GET', url: apiOrigin }, policyFor(), controller.signal);
    await arrived.promise;
    controller.abort();
    await assert.rejects(sent, { name: 'AbortError' });
    await closed.promise;
  });

  it('does not send headers that belong to the connection, nor values that would split one', async (t) => {
    const upstream = await startServer(t, (_request, response) => response.end());
    const broker = startBroker(t, { overrides: new Map([[apiOrigin, upstream.origin]]) });
    const bad = [
      { Host: 'other' },
      { 'content-length': '3' },
      { 'Transfer-Encoding': 'chunked' },
      { Connection: 'upgrade' },
      { 'X-A': 'a\r\nX-B: b' },
      { 'X-A\r\nX-B': 'b' },
      { 'X-A': 'snow ☃' },
      { '': 'a' },
      { 'X-A': 'nul\0' },
    ];
    for (const headers of bad) {
      const request = { method: 'GET', url: apiOrigin, headers: headers as Record<string, string> }; // each has one member
      assert.equal((await broker.send(request, policyFor(), never)).kind, 'refused', JSON.stringify(headers));
    }
    assert.equal(upstream.connections(), 0);
  });

  it('verifies certificates, whatever the environment contains', async (t) => {
    const { createServer } = await import('node:https');
    const { certificate, key } = await import('./testing/certificate.suite.ts');
    const server = createServer({ cert: certificate, key }, (_request, response) => response.end('secure'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    t.after(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED);
    const { port } = server.address() as { port: number }; // it listens on TCP
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    const get = async (host: string, deps: object) => {
      const broker = startBroker(t, { allow: ['127.0.0.1'], resolve, ...deps });
      const result = await broker.send(
        { method: 'GET', url: `https://${host}:${port}/` },
        policyFor({ hosts: new Set([`${host}:${port}`]) }),
        never,
      );
      return result.kind === 'response' ? result.body.toString() : 'message' in result ? result.message : result.kind;
    };
    assert.match(await get('secure.example.com', {}), /certificate is not trusted/);
    assert.match(await get('other.example.com', { ca: certificate }), /certificate is for another host/);
    assert.equal(await get('secure.example.com', { ca: certificate }), 'secure');
  });

  it('sends no key and no token of Quartermaster to a third party, in no place of a call', async (t) => {
    const upstream = await startServer(t, (_request, response) => response.end('ok'));
    const broker = startBroker(t, { overrides: new Map([[apiOrigin, upstream.origin]]) });
    const ofPlugin = { hostsBy: 'bundle' } as const;
    const post = { method: 'POST', url: apiOrigin };
    const sent = [`qmk_${'a'.repeat(36)}`, ...['t', 'r', 'c'].map((kind) => `qm${kind}_-${'B'.repeat(42)}`)];
    for (const secret of sent) {
      const bearer: Injection = { in: 'bearer', credential: 'k' };
      const calls: ReadonlyArray<readonly [Partial<EgressRequest>, Partial<EgressPolicy>]> = [
        [{ url: `${apiOrigin}/${secret}` }, {}],
        [{ url: `${apiOrigin}/?a%3D${secret.replace('_', '%5F')}` }, {}],
        [{ query: [['a', `x${secret}`]] }, {}],
        [{ headers: { 'x-key': `Bearer ${secret}` } }, {}],
        [{}, { credentials: secretsOf({ k: secret }), inject: [bearer] }],
        [
          {},
          { credentials: secretsOf({ u: 'me', k: secret }), inject: [{ in: 'basic', username: 'u', password: 'k' }] },
        ],
        [{ body: JSON.stringify({ text: secret }) }, ofPlugin],
        [{ body: Buffer.from(`\u0000${secret}`) }, ofPlugin],
      ];
      for (const [request, policy] of calls) {
        const result = await broker.send({ ...post, ...request }, policyFor(policy), never);
        assert.equal(result.kind, 'refused', JSON.stringify(request));
        assert.ok(!JSON.stringify(result).includes(secret));
      }
      const toModel = await broker.send({ ...post, body: `a document with ${secret}` }, policyFor(), never);
      assert.equal(toModel.kind, 'response', 'a document is sent to a model whatever it contains');
    }
    for (const text of ['qmk_short', `qmx_${'a'.repeat(43)}`, 'https://docs.example/qmt_']) {
      assert.equal((await broker.send({ ...post, body: text }, policyFor(ofPlugin), never)).kind, 'response', text);
    }
    assert.equal(upstream.requests.length, 7);
  });

  it('counts calls by their outcome', async (t) => {
    const { createMetrics } = await import('../../platform/metrics.ts');
    const metrics = createMetrics();
    const upstream = await startServer(t, (_request, response) => response.end());
    const broker = startBroker(t, { overrides: new Map([[apiOrigin, upstream.origin]]), metrics });
    await broker.send({ method: 'GET', url: apiOrigin }, policyFor(), never);
    await broker.send({ method: 'GET', url: 'https://other.example.com' }, policyFor(), never);
    const text = await metrics.getSingleMetricAsString('quartermaster_egress_requests_total');
    assert.match(text, /result="response"\} 1/);
    assert.match(text, /result="refused"\} 1/);
  });
});
