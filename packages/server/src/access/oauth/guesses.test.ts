import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { openOauthApp } from './testing/oauth-app.ts';
import { createFlow } from './testing/oauth-flow.ts';

const guess = (prefix: string) => `${prefix}${randomBytes(32).toString('base64url')}`;

test('a thousand guessed tokens get the same 401 from a few queries, and a real token works in between', async (t) => {
  const opened = await openOauthApp(t);
  const { signIn, call } = createFlow(opened);
  const { access_token } = await signIn();
  const guessed = Array.from({ length: 1000 }, () => guess('qmt_'));
  const [real, ...answers] = await Promise.all([call(access_token), ...guessed.map((token) => call(token))]);
  assert.equal(real.statusCode, 200);
  const bodies = answers.map(({ statusCode, body }) =>
    [statusCode, body.replace(/"request_id":"[^"]*"/, '')].join(' '),
  );
  assert.equal(new Set(bodies).size, 1, 'nothing tells one guess from another');
  assert.match(bodies[0] ?? '', /^401 /);
  assert.equal(
    opened.lookUps.reduce((sum, count) => sum + count, 0),
    1001,
  );
  assert.ok(opened.lookUps.length <= 20, `${opened.lookUps.length} queries`);
  const before = opened.lookUps.length;
  for (const form of [
    'qmt_',
    `qmt_${'a'.repeat(42)}`,
    `qmt_${'a'.repeat(44)}`,
    `qmt_${'+'.repeat(43)}`,
    guess('qmr_'),
  ]) {
    assert.equal((await call(form)).statusCode, 401, form);
  }
  assert.equal(opened.lookUps.length, before, 'a text of another form causes no query');
});

test('guessed codes, refresh tokens and requests get one answer each, and end no consent', async (t) => {
  const opened = await openOauthApp(t);
  const { signIn, call, exchange, refresh, details, decide, allowed } = createFlow(opened);
  const { access_token } = await signIn();
  const refusals = new Set<string>();
  for (let count = 0; count < 50; count += 1) {
    const id = guess('');
    const answers = [await exchange(guess('qmc_')), await refresh(guess('qmr_'))];
    for (const { statusCode, body } of answers) refusals.add(`${statusCode} ${body}`);
    assert.equal((await details(id, `qm_oauth_request=${id}`)).statusCode, 404);
    assert.equal((await decide(id, `qm_oauth_request=${id}`, allowed)).statusCode, 404);
  }
  assert.deepEqual(
    [...refusals],
    [`400 ${JSON.stringify({ error: 'invalid_grant', error_description: 'grant request is invalid' })}`],
  );
  opened.clock.offset = 2000;
  assert.equal((await call(access_token)).statusCode, 200);
  assert.equal((await opened.repository.listGrants(null, Date.now())).length, 1);
});
