import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  ApiError,
  AuthenticationError,
  Quartermaster,
  RateLimitError,
  RunFailedError,
  ServerError,
  ValidationError,
} from '@quartermaster/client';
import { installPythonClient } from '../support/python-client.ts';
import { type StartedService, share, startService } from '../support/service.ts';
import { openVendorBundle, type VendorError } from '../support/vendor-bundle.ts';

/** The credential of every run. The third party repeats it in every answer. */
const token = 'cAnArY-token-0123456789';

interface Expected {
  readonly status: number;
  readonly code: string;
  readonly outcome: string;
  readonly upstreamCode: string | null;
  /** The body of the answer of the third party. */
  readonly words: string;
  /** Seconds of `Retry-After`. */
  readonly retryAfter?: number;
}

const rejected = { status: 422, code: 'PROVIDER_REJECTED', outcome: 'upstream_rejected' } as const;
const limited = { status: 429, code: 'PROVIDER_RATE_LIMITED', outcome: 'upstream_rate_limited' } as const;
const failed = { status: 502, code: 'PROVIDER_ERROR', outcome: 'upstream_failed' } as const;
const refused = { status: 401, code: 'CREDENTIALS_VALIDATION_ERROR', outcome: 'credentials_rejected' } as const;

const answer = (status: number, body: object, headers: Record<string, string> = {}): VendorError => ({
  status,
  headers,
  body: JSON.stringify({ ...body, echo: token }),
});
const later = { 'retry-after': '60' };

/** Each answer of the third party, with the result on every surface. */
const table: Readonly<Record<string, readonly [VendorError, Expected]>> = {
  400: [
    answer(400, { error: { code: 'bad_input', message: `n must be a number, ${token}` } }),
    { ...rejected, upstreamCode: 'bad_input', words: 'n must be a number, [redacted]' },
  ],
  401: [answer(401, { message: 'Bad token' }), { ...refused, upstreamCode: null, words: 'Bad token' }],
  403: [
    answer(403, { error: 'plan_required', message: 'Upgrade your plan' }),
    { ...rejected, upstreamCode: 'plan_required', words: 'Upgrade your plan' },
  ],
  404: [
    answer(404, { error: { code: 404, status: 'NOT_FOUND', message: 'Order A-9 does not exist.' } }),
    { ...rejected, upstreamCode: 'NOT_FOUND', words: 'Order A-9 does not exist.' },
  ],
  408: [answer(408, { detail: 'Too slow' }), { ...failed, upstreamCode: null, words: 'Too slow' }],
  409: [
    answer(409, { errors: [{ message: 'Already paid', extensions: { code: 'CONFLICT' } }] }),
    { ...rejected, upstreamCode: 'CONFLICT', words: 'Already paid' },
  ],
  418: [
    { status: 418, headers: { 'content-type': 'text/plain' }, body: `I am a teapot, ${token}` },
    { ...rejected, upstreamCode: null, words: 'I am a teapot, [redacted]' },
  ],
  422: [
    answer(
      422,
      { type: 'https://example.com/funds', title: 'No funds', detail: 'The balance is 0.' },
      { 'content-type': 'application/problem+json' },
    ),
    { ...rejected, upstreamCode: 'https://example.com/funds', words: 'The balance is 0.' },
  ],
  429: [
    answer(429, { message: 'Slow down' }, { 'retry-after': '20' }),
    { ...limited, upstreamCode: null, words: 'Slow down', retryAfter: 20 },
  ],
  '429 with a date': [
    answer(
      429,
      { message: 'Slow down' },
      { 'retry-after': 'Sat, 21 Nov 2026 12:00:45 GMT', date: 'Sat, 21 Nov 2026 12:00:00 GMT' },
    ),
    { ...limited, upstreamCode: null, words: 'Slow down', retryAfter: 45 },
  ],
  '429 with a year': [
    answer(429, { message: 'Slow down' }, { 'retry-after': '31536000' }),
    { ...limited, upstreamCode: null, words: 'Slow down', retryAfter: 86_400 },
  ],
  '429 without a time': [answer(429, { message: 'Slow down' }), { ...limited, upstreamCode: null, words: 'Slow down' }],
  500: [
    answer(500, { error: { code: 'boom', message: 'It broke' } }),
    { ...failed, upstreamCode: 'boom', words: 'It broke' },
  ],
  503: [answer(503, { message: 'Closed' }, later), { ...failed, upstreamCode: null, words: 'Closed' }],
};
const cases = Object.entries(table).map(([name, [vendor, expected]]) => ({ name, vendor, expected }));

const answers: Record<string, VendorError> = {
  ...Object.fromEntries(cases.map(({ name, vendor }) => [name, vendor])),
  archived: answer(410, { problem: { id: 'gone', words: 'Deleted in May' } }),
  missing: answer(404, { problem: { id: 'order_missing', words: 'A-9' } }),
  forbidden: answer(403, { problem: { words: 'Wrong key' } }),
  page: { status: 404, headers: { 'content-type': 'text/html' }, body: '<html><body>Not here</body></html>' },
  xml: {
    status: 404,
    headers: { 'content-type': 'application/xml' },
    body: '<Error><Code>NoSuchKey</Code><Message>No such key.</Message></Error>',
  },
  verify: answer(429, { message: 'Slow down' }, { 'retry-after': '20' }),
};

const open = share(async (t) => {
  const { settings } = await openVendorBundle(t, answers);
  return await startService(t, { settings });
});

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly details: ReadonlyArray<Record<string, unknown>>;
}

function post(service: StartedService, path: string, body: object, headers: Record<string, string> = {}) {
  return fetch(`${service.pluginsUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

const call = (c: string, plugin = 'ask', bundle = 'vendor') => ({
  ...{ bundle_id: bundle, plugin_id: plugin, input_params: { c } },
  credentials: bundle === 'free' ? {} : { token },
});

async function execute(service: StartedService, ...of: Parameters<typeof call>) {
  const response = await post(service, '/v1/execute', call(...of));
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    error: (JSON.parse(text) as { error: Failure }).error,
  };
}

/** Compares `details[0]` with the answer of the third party. */
function checkDetails(detail: Record<string, unknown> | undefined, upstreamStatus: number, expected: Expected) {
  assert.ok(detail !== undefined);
  assert.equal(detail.upstream_status, upstreamStatus);
  assert.equal(detail.upstream_code, expected.upstreamCode);
  assert.equal(detail.message, expected.words);
  const retryable = { PROVIDER_ERROR: undefined, PROVIDER_RATE_LIMITED: true }[expected.code] ?? false;
  assert.equal(detail.retryable, expected.code === 'PROVIDER_ERROR' ? undefined : retryable);
  if (expected.code === 'PROVIDER_RATE_LIMITED') assert.equal(detail.retry_after_seconds, expected.retryAfter ?? null);
}

describe('each status of a third party on each surface', () => {
  let service: StartedService;
  before(async () => {
    service = await open();
  });

  for (const { name, vendor, expected } of cases) {
    test(`[execute] HTTP answers ${expected.status} ${expected.code} when the third party answers ${name}`, async () => {
      for (const plugin of ['ask', 'handle']) {
        const { status, headers, text, error } = await execute(service, name, plugin);
        assert.deepEqual([status, error.code], [expected.status, expected.code], text);
        assert.equal(
          headers.get('retry-after'),
          expected.retryAfter === undefined ? null : String(expected.retryAfter),
        );
        assert.ok(error.message.includes(expected.words) && error.message.includes(String(vendor.status)), text);
        checkDetails(error.details[0], vendor.status, expected);
        assert.ok(!text.includes(token), text);
      }
      const { bundle_id, plugin_id, input_params } = call(name);
      const path = `/v1/bundles/${bundle_id}/plugins/${plugin_id}/execute`;
      const credentials = Buffer.from(JSON.stringify({ token })).toString('base64url');
      const direct = await post(service, path, input_params, { 'x-plugin-credentials': credentials });
      assert.equal(direct.status, expected.status);
      assert.equal(((await direct.json()) as { error: Failure }).error.code, expected.code);
    });

    test(`[runs] an asynchronous run ends as ${expected.outcome} when the third party answers ${name}`, async () => {
      const accepted = await post(service, '/v1/execute', call(name), { prefer: 'respond-async' });
      const { data } = (await accepted.json()) as { data: { run_id: string } };
      const client = new Quartermaster({
        baseUrl: service.filesUrl,
        pluginsUrl: service.pluginsUrl,
        apiKey: service.key,
      });
      await assert.rejects(client.runs.wait(data.run_id), (failure) => {
        assert.ok(failure instanceof RunFailedError);
        const { outcome, error_code, upstream_status, error } = failure.run;
        assert.deepEqual([outcome, error_code, failure.code], [expected.outcome, expected.code, expected.code]);
        assert.equal(upstream_status, vendor.status);
        assert.ok(failure.message.includes(expected.words), failure.message);
        checkDetails(error?.details?.[0], vendor.status, expected);
        return true;
      });
    });

    test(`[mcp] a tool returns the message of a third party that answers ${name} as an error`, async (t) => {
      const client = new Client({ name: 'test', version: '1.0.0' });
      const url = new URL(`${service.pluginsUrl}/mcp/vendor`);
      const headers = { 'X-Credential-token': token };
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
      t.after(() => client.close());
      const result = await client.callTool({ name: 'ask', arguments: { c: name } });
      assert.equal(result.isError, true);
      const [block] = result.content as Array<{ text: string }>;
      assert.ok(block?.text.includes(expected.words), JSON.stringify(block));
      const error = result._meta?.['quartermaster/error'] as Failure;
      assert.equal(error.code, expected.code);
      checkDetails(error.details[0], vendor.status, expected);
      assert.ok(!JSON.stringify(result).includes(token));
    });

    test(`[client] the TypeScript client throws its class for ${expected.status} when the third party answers ${name}`, async () => {
      const client = new Quartermaster({
        baseUrl: service.filesUrl,
        pluginsUrl: service.pluginsUrl,
        apiKey: service.key,
      });
      const classes = { 401: AuthenticationError, 422: ValidationError, 429: RateLimitError, 502: ServerError };
      await assert.rejects(client.plugins.run('vendor/ask', { c: name }, { credentials: { token } }), (error) => {
        assert.ok(error instanceof ApiError);
        assert.equal(error.constructor, Reflect.get(classes, expected.status));
        assert.deepEqual([error.status, error.code], [expected.status, expected.code]);
        assert.equal(error.retryAfterMs, expected.retryAfter === undefined ? null : expected.retryAfter * 1000);
        checkDetails(error.details[0], vendor.status, expected);
        return true;
      });
    });
  }

  test('[client] the Python client raises its class for each status of a third party', async (t) => {
    const { modules } = await installPythonClient(t);
    const script = `
import json, sys
from quartermaster import ApiError, Quartermaster
files, plugins, key, token, names = sys.argv[1:]
client = Quartermaster(base_url=files, plugins_url=plugins, api_key=key)
found = {}
for name in json.loads(names):
    try:
        client.plugins.run("vendor/ask", {"c": name}, credentials={"token": token})
    except ApiError as error:
        kind = type(error).__name__
        found[name] = [kind, error.status, error.code, error.retry_after, error.details[0]]
print(json.dumps(found))
`;
    const { filesUrl, pluginsUrl, key } = service;
    const names = JSON.stringify(cases.map(({ name }) => name));
    const { stdout } = await promisify(execFile)(
      '/usr/bin/python3',
      ['-c', script, filesUrl, pluginsUrl, key, token, names],
      { env: { PATH: '/usr/bin:/bin', PYTHONPATH: modules, PYTHONDONTWRITEBYTECODE: '1' } },
    );
    const found = JSON.parse(stdout) as Record<
      string,
      [string, number, string, number | null, Record<string, unknown>]
    >;
    const classes = { 401: 'AuthenticationError', 422: 'ValidationError', 429: 'RateLimitError', 502: 'ServerError' };
    for (const { name, vendor, expected } of cases) {
      const [kind, status, code, retryAfter, detail] = found[name] ?? [];
      assert.deepEqual(
        [kind, status, code, retryAfter],
        [Reflect.get(classes, expected.status), expected.status, expected.code, expected.retryAfter ?? null],
        name,
      );
      checkDetails(detail, vendor.status, expected);
    }
  });

  test('[execute] a manifest locates the reason of an error, gives messages for statuses and lists statuses that reject credentials', async () => {
    const archived = await execute(service, 'archived');
    assert.match(
      archived.error.message,
      /^The third party rejected the request \(status 410\): This order was archived\.$/,
    );
    assert.equal(archived.error.details[0]?.upstream_code, 'gone');
    const missing = await execute(service, 'missing', 'named');
    assert.match(missing.error.message, /: No such order\.$/);
    const [detail] = missing.error.details;
    assert.deepEqual([detail?.upstream_code, detail?.message], ['order_missing', 'A-9']);
    const forbidden = await execute(service, 'forbidden', 'named');
    assert.deepEqual([forbidden.status, forbidden.error.code], [401, 'CREDENTIALS_VALIDATION_ERROR']);
    assert.equal(forbidden.error.details[0]?.message, 'Wrong key');
  });

  test('[execute] an HTML page gives only the status, XML gives its message, and 401 rejects the request of a bundle without credentials', async () => {
    const page = await execute(service, 'page');
    assert.equal(page.error.details[0]?.message, 'The API answered with status 404.');
    const [xml] = (await execute(service, 'xml')).error.details;
    assert.deepEqual([xml?.upstream_code, xml?.message], ['NoSuchKey', 'No such key.']);
    assert.equal((await execute(service, '401', 'ask', 'free')).error.code, 'PROVIDER_REJECTED');
  });

  test('[execute] verify_credentials tells a rate limit from rejected credentials', async () => {
    const response = await post(service, '/v1/verify_credentials', { bundle_id: 'vendor', credentials: { token } });
    const { error } = (await response.json()) as { error: Failure };
    assert.deepEqual([response.status, error.code], [429, 'PROVIDER_RATE_LIMITED']);
    assert.equal(response.headers.get('retry-after'), '20');
  });

  test('[runs] the metric of runs has a label for each outcome of a third party', async () => {
    const response = await fetch(`${service.pluginsUrl}/metrics`, {
      headers: { authorization: `Bearer ${service.key}` },
    });
    const text = await response.text();
    for (const { outcome } of [rejected, limited, failed, refused]) {
      assert.match(
        text,
        new RegExp(`quartermaster_executions_total\\{bundle="vendor",plugin="ask",outcome="${outcome}"\\} [1-9]`),
      );
    }
  });
});
