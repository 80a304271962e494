import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { sentenceOf } from '../../platform/validation/validation-error.ts';
import { mark, openBench, plainSecret, secret } from './testing/execution.suite.ts';

const json =
  (status: number, body: unknown): RequestListener =>
  (_request, response) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));

describe('POST /v1/execute', () => {
  it('returns the output in the nesting that the clients read, and sends defaults and the credential', async (t) => {
    const { execute, server } = await openBench(t, json(200, { said: 'hi' }));
    const { status, body } = await execute({ plugin_id: 'say', input_params: { q: 'a&b' }, project_id: 'ignored' });
    assert.equal(status, 200);
    const { run_id, duration_ms, ...data } = body.data;
    assert.deepEqual({ ...body, data }, { status: 'success', data: { status: 200, data: { said: 'hi' } } });
    assert.match(run_id, /^xrun[a-z0-9]{20}$/);
    assert.equal(typeof duration_ms, 'number');
    const query = new URL(server.requests[0]?.url ?? '', server.origin).searchParams;
    assert.deepEqual(
      [...query],
      [
        ['q', 'a&b'],
        ['n', '7'],
        ['key', secret],
      ],
    );
  });

  it('runs a handler in the sandbox, whose calls go through the broker', async (t) => {
    const { execute, server } = await openBench(t, json(200, { said: 'hi' }));
    const { status, body } = await execute({ plugin_id: 'handle', input_params: { q: 'x' } });
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.data.data.said, '{"said":"hi"}');
    assert.equal(new URL(server.requests[0]?.url ?? '', server.origin).searchParams.get('key'), secret);
  });

  it('answers 404 for an unknown bundle or plugin, and names it', async (t) => {
    const { execute } = await openBench(t, json(200, {}));
    const noBundle = await execute({ bundle_id: 'nope', plugin_id: 'say' });
    assert.deepEqual([noBundle.status, noBundle.body.error.code], [404, 'OBJECT_NOT_FOUND']);
    assert.match(noBundle.body.error.message, /No bundle .*"nope"/);
    const noPlugin = await execute({ plugin_id: 'constructor' });
    assert.equal(noPlugin.status, 404);
    assert.match(noPlugin.body.error.message, /"echo" has no plugin .*"constructor"/);
  });

  it('needs all four members, and answers 404 before it checks them', async (t) => {
    const { execute, server } = await openBench(t, json(200, {}));
    for (const name of ['bundle_id', 'plugin_id', 'input_params', 'credentials']) {
      const { status, body } = await execute({ plugin_id: 'say', [name]: undefined });
      assert.equal(status, 422);
      assert.deepEqual(body.error.details, [{ path: `body/${name}`, found: 'nothing', expected: 'a value' }]);
    }
    assert.equal((await execute({ bundle_id: 'nope', plugin_id: 'say', credentials: { bad: 1 } })).status, 404);
    assert.equal(server.connections(), 0);
  });

  it('names every missing or wrong field of a body in one answer', async (t) => {
    const { app } = await openBench(t, json(200, {}));
    const refuse = async (payload: object) => {
      const response = await app.inject({ method: 'POST', url: '/v1/execute', payload });
      assert.equal(response.statusCode, 422, response.body);
      return response.json().error;
    };
    const required = (name: string) => `body/${name} is required.`;
    const empty = await refuse({});
    const names = ['bundle_id', 'plugin_id', 'input_params', 'credentials'];
    assert.equal(empty.message, names.map(required).join(' '));
    assert.deepEqual(
      empty.details,
      names.map((name) => ({ path: `body/${name}`, found: 'nothing', expected: 'a value' })),
    );
    assert.equal(
      (await refuse({ bundle_id: 5, input_params: [] })).message,
      `${required('plugin_id')} body/bundle_id must be a string; received a number (5). ` +
        `body/input_params must be an object; received an array of 0 items. ${required('credentials')}`,
    );
    assert.equal((await refuse({ tool_name: 'say', input_params: {} })).message, required('credentials'));
    const ids = await refuse({ input_params: {}, credentials: {} });
    assert.equal(ids.message, `${required('bundle_id')} ${required('plugin_id')}`);
    assert.ok(!JSON.stringify(await refuse({ credentials: secret })).includes(secret));
  });

  it('answers 422 with paths for credentials and then input that do not match their schemas, without coercion', async (t) => {
    const { execute, server } = await openBench(t, json(200, {}));
    const paths = async (body: Record<string, unknown>) => {
      const answer = await execute({ plugin_id: 'say', ...body });
      assert.deepEqual([answer.status, answer.body.error?.code], [422, 'REQUEST_VALIDATION_ERROR'], answer.text);
      assert.ok(!answer.text.includes(mark), answer.text);
      // The details have the shape of any other field, docs/contract.md "Both addresses", and the message contains the
      // values found and expected.
      const [{ path, found, expected }] = answer.body.error.details;
      assert.ok(answer.body.error.message.startsWith(sentenceOf({ path, found, expected })), answer.text);
      return answer.body.error.details.map((detail: { path: string }) => {
        assert.deepEqual(Object.keys(detail).sort(), ['expected', 'found', 'path']);
        return detail.path;
      });
    };
    assert.deepEqual(await paths({ credentials: {} }), ['body/credentials/api_key']);
    assert.deepEqual(await paths({ credentials: { api_key: 12345 } }), ['body/credentials/api_key']);
    assert.deepEqual(await paths({ credentials: { api_key: `${mark}${'x'.repeat(200)}` } }), [
      'body/credentials/api_key',
    ]);
    assert.deepEqual(await paths({ credentials: { api_key: [mark] }, input_params: { n: 'x' } }), [
      'body/credentials/api_key',
    ]);
    assert.deepEqual(await paths({ input_params: { n: '7' } }), ['body/input_params/n']);
    assert.deepEqual(await paths({ input_params: { n: true } }), ['body/input_params/n']);
    assert.deepEqual(await paths({ input_params: { q: 1, n: 1.5 } }), ['body/input_params/q', 'body/input_params/n']);
    assert.deepEqual(await paths({ input_params: { q: { deep: secret } } }), ['body/input_params/q']);
    assert.equal((await paths({ input_params: { other: 1 } })).length, 1);
    assert.equal(server.connections(), 0);
  });

  it('answers 400 for prototype pollution and depth, and changes no prototype', async (t) => {
    const { app, server } = await openBench(t, json(200, {}));
    const send = (input: string) =>
      app.inject({
        method: 'POST',
        url: '/v1/execute',
        headers: { 'content-type': 'application/json' },
        payload: `{"bundle_id":"echo","plugin_id":"say","credentials":{"api_key":"12345678"},"input_params":${input}}`,
      });
    for (const input of [
      '{"__proto__":{"x":1}}',
      '{"q":{"__proto__":1}}',
      `{"q":${'['.repeat(70)}${']'.repeat(70)}}`,
    ]) {
      assert.equal((await send(input)).statusCode, 400, input);
    }
    for (const input of ['{"constructor":{"prototype":{"x":1}}}', '{"prototype":1}']) {
      assert.ok((await send(input)).statusCode >= 400, input);
    }
    assert.equal(({} as Record<string, unknown>).x, undefined); // true for any object if the prototype was changed
    assert.equal(server.connections(), 0);
  });

  it('returns an output that does not match its schema, reports the errors, and counts them', async (t) => {
    const { execute, metrics } = await openBench(t, json(200, { said: 5 }));
    const { status, body } = await execute({ plugin_id: 'say' });
    assert.equal(status, 200);
    assert.deepEqual(body.data.data, { said: 5 });
    assert.equal(body.data.output_violations[0].path, '/said');
    const text = await metrics.metrics();
    assert.match(text, /quartermaster_output_violations_total\{bundle="echo",plugin="say"\} 1/);
    assert.match(text, /quartermaster_executions_total\{bundle="echo",plugin="say",outcome="succeeded"\} 1/);
    assert.match(text, /quartermaster_execution_seconds_count\{bundle="echo",plugin="say"\} 1/);
  });

  it('gives null with a note where a member of the answer has another type than the mapping can use', async (t) => {
    const { execute } = await openBench(t, json(200, { said: 'x' }));
    const { status, body } = await execute({ plugin_id: 'sum' });
    assert.deepEqual([status, body.data.data], [200, null]);
    assert.equal(body.data.output_violations[0].expected, 'what sum() accepts');
  });

  const upstreams: [string, RequestListener, string, number, string][] = [
    ['refuses', json(503, { why: 'closed' }), 'say', 502, 'PROVIDER_ERROR'],
    ['says no with status 200', json(200, { error: 'quota used up' }), 'say', 502, 'PROVIDER_ERROR'],
    ['answers nonsense', (_q, response) => response.end('<html>'), 'say', 502, 'PROVIDER_ERROR'],
    ['closes the connection', (request) => request.socket.destroy(), 'say', 502, 'PROVIDER_ERROR'],
    ['answers too much', (_q, response) => response.end('a'.repeat(200_000)), 'plain', 502, 'PROVIDER_ERROR'],
    [
      'redirects elsewhere',
      (_q, response) => response.writeHead(302, { location: 'https://evil.com' }).end(),
      'say',
      502,
      'PROVIDER_ERROR',
    ],
    ['refuses the credentials', json(401, { error: 'bad key' }), 'say', 401, 'CREDENTIALS_VALIDATION_ERROR'],
    [
      'refuses the credentials with status 400',
      json(400, { bad_key: true }),
      'say',
      401,
      'CREDENTIALS_VALIDATION_ERROR',
    ],
    [
      'refuses the credentials with status 200',
      json(200, { bad_key: true }),
      'say',
      401,
      'CREDENTIALS_VALIDATION_ERROR',
    ],
    ['refuses a handler', json(500, { said: 'no' }), 'handle', 502, 'PROVIDER_ERROR'],
    ["refuses a handler's credentials", json(401, { said: 'no' }), 'handle', 401, 'CREDENTIALS_VALIDATION_ERROR'],
    ['keeps silent', () => {}, 'say', 504, 'PLUGIN_TIMEOUT'],
    ['keeps silent to a handler', () => {}, 'handle', 504, 'PLUGIN_TIMEOUT'],
  ];
  for (const [name, upstream, plugin_id, status, code] of upstreams) {
    it(`answers ${status} ${code} when the upstream ${name}`, async (t) => {
      const { execute } = await openBench(t, upstream, status === 504 ? { timeoutMs: 1000 } : {});
      const answer = await execute({ plugin_id });
      assert.deepEqual([answer.status, answer.body.error?.code], [status, code], answer.text);
      assert.match(answer.body.error.details[0].run_id, /^xrun/);
    });
  }

  for (const [plugin_id, status] of [
    ['say', 401],
    ['judge', 400],
    ['judge', 200],
    ['handle', 401],
  ] as const) {
    it(`answers 422 when a bundle without credentials calls ${plugin_id} and the upstream answers ${status}`, async (t) => {
      const { execute } = await openBench(t, json(status, { bad_key: true, message: 'Sign in' }));
      const answer = await execute({ bundle_id: 'free', plugin_id, credentials: {} });
      assert.deepEqual([answer.status, answer.body.error?.code], [422, 'PROVIDER_REJECTED'], answer.text);
      assert.match(answer.body.error.message, /^The third party rejected the request \(status \d+\): Sign in\.$/);
    });
  }

  it('returns the status and the beginning of the response of the upstream', async (t) => {
    const { execute } = await openBench(t, (_q, response) => response.writeHead(503).end(`closed ${'x'.repeat(5000)}`));
    const [detail] = (await execute({ plugin_id: 'say' })).body.error.details;
    assert.equal(detail.upstream_status, 503);
    assert.match(detail.excerpt, /^closed x{1017}$/);
  });

  it('refuses an address that is not public, and a host that is not declared', async (t) => {
    const { execute } = await openBench(t, json(200, {}));
    const away = await execute({ plugin_id: 'away' });
    assert.deepEqual([away.status, away.body.error.code], [502, 'PROVIDER_ERROR']);
    assert.match(away.body.error.message, /not on the public internet/);
    const elsewhere = await execute({ plugin_id: 'handle', input_params: { q: 'elsewhere' } });
    assert.deepEqual([elsewhere.status, elsewhere.body.error.code], [502, 'PROVIDER_ERROR']);
    assert.match(elsewhere.body.error.message, /evil\.example\.com/);
  });

  it('reports each way in which a handler fails', async (t) => {
    const { execute } = await openBench(t, json(200, { said: 'hi' }));
    const run = async (q: string) => {
      const { status, body } = await execute({ plugin_id: 'handle', input_params: { q } });
      return [status, body.error.code, body.error.details[0].outcome ?? null];
    };
    assert.deepEqual(await run('reject'), [422, 'REQUEST_VALIDATION_ERROR', null]);
    assert.deepEqual(await run('throw'), [500, 'PLUGIN_FAILED', 'failed']);
    assert.deepEqual(await run('many'), [500, 'PLUGIN_FAILED', 'failed']);
    assert.deepEqual(await run('exit'), [500, 'PLUGIN_FAILED', 'crashed']);
    assert.equal((await execute({ plugin_id: 'handle', input_params: { q: 'fine' } })).status, 200);
  });

  it('ends a handler with an endless loop', async (t) => {
    const { execute } = await openBench(t, json(200, {}), { timeoutMs: 1000 });
    const { status, body } = await execute({ plugin_id: 'handle', input_params: { q: 'spin' } });
    assert.deepEqual([status, body.error.code], [504, 'PLUGIN_TIMEOUT']);
  });

  it('ends a handler that exceeds its processor time', async (t) => {
    const { execute } = await openBench(t, json(200, {}), { timeoutMs: 120_000, cpuMs: 300 });
    const { status, body } = await execute({ plugin_id: 'handle', input_params: { q: 'spin' } });
    assert.deepEqual([status, body.error.code], [504, 'PLUGIN_TIMEOUT']);
    assert.equal(body.error.message, 'The plugin used more than 300 ms of processor time.');
  });

  it('answers 429 with Retry-After while the maximum number of runs is running', async (t) => {
    const [arrived, arrivedToo] = [Promise.withResolvers<() => void>(), Promise.withResolvers<() => void>()];
    let calls = 0;
    const answer = (_q: unknown, response: { end(text: string): void }) => {
      calls += 1;
      (calls === 1 ? arrived : arrivedToo).resolve(() => response.end('{"said":"late"}'));
    };
    const bench = await openBench(t, answer, { maxRunsOfKey: 1 });
    // Callers without a key have half of the places.
    const first = [bench.execute({ plugin_id: 'say' }), bench.execute({ plugin_id: 'say' })];
    const finish = [await arrived.promise, await arrivedToo.promise];
    const second = await bench.execute({ plugin_id: 'say' });
    assert.deepEqual(
      [second.status, second.body.error.code, second.headers['retry-after']],
      [429, 'TOO_MANY_REQUESTS', '1'],
    );
    for (const end of finish) end();
    for (const { status } of await Promise.all(first)) assert.equal(status, 200);
  });

  it('cancels the run and its upstream call when the client disconnects', async (t) => {
    const arrived = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const { app, metrics } = await openBench(t, (request) => {
      request.socket.on('close', () => closed.resolve());
      arrived.resolve();
    });
    const address = await app.listen({ host: '127.0.0.1', port: 0 });
    const body = JSON.stringify({
      bundle_id: 'echo',
      plugin_id: 'say',
      input_params: {},
      credentials: { api_key: secret },
    });
    const client = connect(Number(new URL(address).port), '127.0.0.1');
    client.write(
      `POST /v1/execute HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    await arrived.promise;
    client.destroy();
    await closed.promise;
    assert.match(await metrics.metrics(), /outcome="cancelled"\} 1/);
  });
});

describe('a credential', () => {
  const echo: RequestListener = (request, response) => {
    const key = new URL(request.url ?? '', 'http://a').searchParams.get('key') ?? '';
    const forms = [
      key,
      encodeURIComponent(key),
      Buffer.from(key).toString('base64'),
      JSON.stringify(key),
      Buffer.from(`u:${key}`).toString('base64'),
    ];
    const status = request.url?.includes('q=fail') ? 500 : request.url?.includes('q=deny') ? 401 : 200;
    response.writeHead(status, { 'X-Echo': encodeURIComponent(key), 'X-Base64': Buffer.from(key).toString('base64') });
    // JSON may escape any character; the parsed text is the key again.
    const numbers = [...key].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
    response.end(JSON.stringify({ said: `${forms.join(' ')} #`, [key]: 1 }).replace('#', numbers));
  };
  const plugins = ['say', 'plain', 'sum', 'handle'];

  it('that the upstream repeats appears nowhere: not in a result, an error, the log or the metrics', async (t) => {
    const { execute, app, log, metrics } = await openBench(t, echo);
    const seen: string[] = [];
    for (const api_key of [secret, plainSecret]) {
      for (const plugin_id of plugins) {
        for (const q of ['hear', 'fail', 'deny']) {
          seen.push((await execute({ plugin_id, input_params: { q }, credentials: { api_key } })).text);
        }
        // The caller also sends the key in its input.
        seen.push((await execute({ plugin_id, input_params: { q: api_key }, credentials: { api_key } })).text);
        seen.push((await execute({ plugin_id, input_params: { n: api_key }, credentials: { api_key } })).text);
      }
      const payload = { bundle_id: 'echo', credentials: { api_key } };
      seen.push((await app.inject({ method: 'POST', url: '/v1/verify_credentials', payload })).body);
    }
    const all = [...seen, ...log, await metrics.metrics()].join('\n');
    assert.ok(all.includes('[redacted]'));
    assert.ok(
      log.some((line) => line.includes('heard')),
      'the handler has logged',
    );
    for (const api_key of [secret, plainSecret]) {
      const forms = [
        api_key,
        encodeURIComponent(api_key),
        JSON.stringify(api_key).slice(1, -1),
        Buffer.from(api_key).toString('hex'),
      ];
      const base64 = ['', 'u', 'u:'].map((before) =>
        Buffer.from(before + api_key)
          .toString('base64')
          .slice(4, 28),
      );
      for (const form of [...forms, ...base64]) assert.ok(!all.includes(form), `found ${form}`);
    }
    assert.ok(!all.includes(mark), all);
  });

  it('that a plugin prints before its process exits is redacted in the response and in the log', async (t) => {
    const { execute, log } = await openBench(t, echo);
    const input_params = { q: `print before ${plainSecret} after` };
    const { text } = await execute({ plugin_id: 'handle', input_params, credentials: { api_key: plainSecret } });
    const all = [text, ...log].join('\n');
    assert.match(all, /before \[redacted\] after/);
    assert.ok(!all.includes(mark), all);
  });

  it('that its schema does not mark as secret is not redacted', async (t) => {
    const { execute } = await openBench(t, json(200, { said: 'hi' }));
    const { status, text } = await execute({ plugin_id: 'say', credentials: { api_key: `${mark}-123`, region: 'hi' } });
    assert.equal(status, 200);
    assert.ok(text.includes('"said":"hi"'), 'a region is not a secret');
  });
});

describe('POST /v1/verify_credentials', () => {
  const verify = async (bench: Awaited<ReturnType<typeof openBench>>, bundle_id: string, credentials: object) => {
    const answer = await bench.app.inject({
      method: 'POST',
      url: '/v1/verify_credentials',
      payload: { bundle_id, credentials },
    });
    return { status: answer.statusCode, body: answer.json() };
  };

  it('asks the upstream: 200 when it agrees, 401 when it does not', async (t) => {
    const bench = await openBench(t, (request, response) => {
      response.writeHead(request.url?.includes('good') ? 200 : 401).end('{}');
    });
    assert.deepEqual(await verify(bench, 'echo', { api_key: 'good-key' }), {
      status: 200,
      body: { status: 'success' },
    });
    const bad = await verify(bench, 'echo', { api_key: 'evil-key' });
    assert.deepEqual([bad.status, bad.body.error.code], [401, 'CREDENTIALS_VALIDATION_ERROR']);
    assert.deepEqual(
      bench.server.requests.map(({ url }) => url),
      ['/me?key=good-key', '/me?key=evil-key'],
    );
  });

  it('reports a bundle that cannot be verified, does not exist, or needs no or other credentials', async (t) => {
    const bench = await openBench(t, json(200, {}));
    const unasked = await verify(bench, 'unasked', { api_key: 'some-key' });
    assert.equal(unasked.status, 422);
    assert.match(unasked.body.error.message, /declares how to verify credentials/);
    assert.equal((await verify(bench, 'free', {})).status, 200);
    assert.equal((await verify(bench, 'nope', {})).status, 404);
    assert.equal((await verify(bench, 'echo', {})).status, 422);
    assert.equal(bench.server.connections(), 0);
  });
});

describe('an Idempotency-Key', () => {
  const write = { plugin_id: 'write', input_params: { q: 'once' } };

  it('returns the same response for the same arguments, and runs once', async (t) => {
    const { execute, server } = await openBench(t, json(200, { said: 'done' }));
    const first = await execute(write, { 'idempotency-key': 'k1' });
    const again = await execute({ ...write, input_params: { q: 'once' } }, { 'idempotency-key': 'k1' });
    assert.equal(first.status, 200);
    assert.equal(again.text, first.text);
    assert.equal(server.requests.length, 1);
    assert.equal((await execute(write, { 'idempotency-key': 'k2' })).status, 200);
    assert.equal(server.requests.length, 2);
  });

  it('answers 422 for other arguments or other credentials, and for a key that is too long', async (t) => {
    const { execute, server } = await openBench(t, json(200, { said: 'done' }));
    await execute(write, { 'idempotency-key': 'k1' });
    for (const change of [
      { input_params: { q: 'twice' } },
      { plugin_id: 'say' },
      { credentials: { api_key: 'another-key' } },
    ]) {
      assert.equal((await execute({ ...write, ...change }, { 'idempotency-key': 'k1' })).status, 422);
    }
    assert.equal((await execute(write, { 'idempotency-key': 'k'.repeat(256) })).status, 422);
    assert.equal(server.requests.length, 1);
  });

  it('answers 409 while the first run is running', async (t) => {
    const arrived = Promise.withResolvers<() => void>();
    const { execute } = await openBench(t, (_q, response) => arrived.resolve(() => response.end('{"said":"done"}')));
    const first = execute(write, { 'idempotency-key': 'k1' });
    const finish = await arrived.promise;
    const second = await execute(write, { 'idempotency-key': 'k1' });
    assert.deepEqual([second.status, second.body.error.code], [409, 'DUPLICATE_OBJECT']);
    finish();
    assert.equal((await first).status, 200);
  });

  it('stores a failure with an unknown effect, and forgets one without effect', async (t) => {
    let status = 500;
    const { execute, server } = await openBench(t, (_q, response) => response.writeHead(status).end('{"said":"x"}'));
    const unknown = await execute(write, { 'idempotency-key': 'k1' });
    const again = await execute(write, { 'idempotency-key': 'k1' });
    assert.deepEqual([unknown.status, again.status, server.requests.length], [502, 502, 1]);
    assert.deepEqual(again.body.error.details, unknown.body.error.details);
    status = 400;
    assert.equal((await execute(write, { 'idempotency-key': 'k2' })).status, 422);
    status = 200;
    assert.equal((await execute(write, { 'idempotency-key': 'k2' })).status, 200);
    assert.equal((await execute({ plugin_id: 'nope' }, { 'idempotency-key': 'k3' })).status, 404);
    assert.equal((await execute(write, { 'idempotency-key': 'k3' })).status, 200);
  });
});
