import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Outcome } from '../../packages/server/src/tools/execution/outcome.ts';
import { answersOf, openWorld } from './bundle-fixture.ts';
import { documented } from './documented-calls.ts';

const world = await openWorld();
after(() => world.close());

async function execute(bundleId: string, pluginId: string, input: Record<string, unknown>): Promise<Outcome> {
  const named = { bundle_id: bundleId, plugin_id: pluginId };
  const request = { ...named, input_params: input, credentials: { ...documented[bundleId]?.credentials } };
  return (await world.executor.execute(request, new AbortController().signal)).outcome;
}

test('an unknown currency and a used-up quota are not blamed on the credentials', async () => {
  for (const [type, status, kind] of [
    ['unsupported-code', 404, 'upstream_rejected'],
    ['quota-reached', 429, 'upstream_rate_limited'],
    ['quota-reached', 200, 'upstream_failed'],
  ] as const) {
    const body = JSON.stringify({ result: 'error', 'error-type': type });
    world.willAnswer({ status, contentType: 'application/json', body });
    const outcome = await execute('exchangerate_api', 'get_exchange_rate', {
      from_currency: 'EUR',
      to_currency: 'XXX',
    });
    assert.ok(outcome.kind === kind, JSON.stringify(outcome));
    assert.equal(outcome.message, type);
  }
});

test('a plan, an unknown name and a refused value get the message of the third party, and are not called a wrong key', async () => {
  const subscription = 'Please note that using One Call 3.0 requires a separate subscription.';
  const stock = { symbol: 'NOPE' };
  for (const [name, input, status, body, kind, message] of [
    [
      'open_weather/get_current_weather',
      { lat: 1, lon: 1 },
      401,
      { cod: 401, message: subscription },
      'upstream_rejected',
      subscription,
    ],
    [
      'alpha_vantage/get_latest_stock_data',
      stock,
      200,
      { 'Global Quote': {} },
      'upstream_failed',
      'no price for this symbol',
    ],
    [
      'github/get_file',
      { owner: 'a_b', repo: 'c', path: 'd' },
      200,
      [{ name: 'e', _links: {}, git_url: 'f' }],
      'upstream_failed',
      'list_folder',
    ],
    [
      'wikipedia/get_article',
      { title: 'Nope' },
      200,
      { query: { pages: [{ title: 'Nope', missing: true }] } },
      'upstream_failed',
      'No article',
    ],
    [
      'api_ninjas_commodity_price/get_commodity_price',
      { name: 'oat' },
      400,
      { error: 'For premium users.' },
      'upstream_rejected',
      'For premium users.',
    ],
    [
      'coin_market_cap/find_coin',
      { symbol: 'X' },
      400,
      { status: { error_message: 'Invalid X' } },
      'upstream_rejected',
      'Invalid X',
    ],
    [
      'stack_overflow/get_question',
      { question_id: 1 },
      400,
      { error_id: 502, error_message: 'too many requests' },
      'upstream_rejected',
      'too many requests',
    ],
  ] as const) {
    const [bundleId = '', pluginId = ''] = name.split('/');
    world.willAnswer({ status, contentType: 'application/json', body: JSON.stringify(body) });
    const outcome = await execute(bundleId, pluginId, input);
    assert.ok(outcome.kind === kind && outcome.message?.includes(message), JSON.stringify(outcome));
  }
});

test("arXiv's errors, which come as a feed, are failures with arXiv's words", async () => {
  world.willAnswer(...answersOf('arxiv_search', 'fixtures/error.xml'));
  const outcome = await execute('arxiv_search', 'arxiv_search', { query: 'all:electron' });
  assert.ok(outcome.kind === 'upstream_failed', JSON.stringify(outcome));
  assert.equal(outcome.message, 'incorrect id format for 1234.12345');
});

test('an operation that the plan does not include is not blamed on the credentials', async () => {
  const [contentType, status] = ['application/json', 403];
  const error = 'Your API key does not allow access to this endpoint at your current plan level.';
  for (const [bundleId, pluginId, input, body] of [
    ['weather_bit', 'get_weather_forecast', { city: 'Raleigh', interval: 'hourly' }, { error }],
    ['serper', 'text_search', { query: 'apple' }, { message: 'Not enough credits', statusCode: 403 }],
  ] as const) {
    world.willAnswer({ status, contentType, body: JSON.stringify(body) });
    const outcome = await execute(bundleId, pluginId, input);
    assert.ok(outcome.kind === 'upstream_rejected', JSON.stringify(outcome));
  }
});

test('an upload that Slack refuses says why, and a wrong token is called one', async () => {
  const input = { channel: 'C024BE91L', filename: 'note.txt', content: 'RW5naW5l' };
  for (const [answer, kind, message] of [
    [{ ok: false, error: 'missing_scope', needed: 'files:write' }, 'input_rejected', /missing_scope.*files:write/],
    [{ ok: false, error: 'invalid_auth' }, 'credentials_rejected', /invalid_auth|credentials/],
  ] as const) {
    world.willAnswer({ status: 200, contentType: 'application/json', body: JSON.stringify(answer) });
    const outcome = await execute('slack', 'upload_file', input);
    assert.ok(outcome.kind === kind, JSON.stringify(outcome));
    assert.match(outcome.message, message);
    assert.equal(world.received.length, 1);
  }
});
