import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import pg from 'pg';
import { send, serve } from '../support/http.ts';
import { databaseFor } from '../support/postgres.ts';
import { succeed } from '../support/run-command.ts';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';

const run = promisify(execFile);
const rate = JSON.stringify({ result: 'success', base_code: 'USD', target_code: 'CNY', conversion_rate: 7.1 });

/** Counts the calls that reach the third party. */
async function startThirdParty(t: TestContext): Promise<{ readonly overrides: string; calls(): number }> {
  let calls = 0;
  const url = await serve(t, (_request, response) => {
    calls += 1;
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(rate);
  });
  return { overrides: JSON.stringify({ 'https://v6.exchangerate-api.com': url }), calls: () => calls };
}

async function execute(service: StartedService, credential: string, key?: string) {
  const { status, body, code, message } = await send(`${service.pluginsUrl}/v1/execute`, {
    ...{ key, headers: { 'Idempotency-Key': 'order-1' } },
    json: {
      ...{ bundle_id: 'exchangerate_api', plugin_id: 'get_exchange_rate' },
      input_params: { from_currency: 'USD', to_currency: 'CNY' },
      credentials: { EXCHANGERATE_API_API_KEY: credential },
    },
  });
  return { status, runId: body.data?.run_id, code, message };
}

/** Returns the number of responses of each status. */
function countByStatus(answers: ReadonlyArray<{ readonly status: number }>): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

test('[kept-answers] no caller obtains the response of another by guessing credentials, because at most ten guesses are compared, even concurrent ones', async (t) => {
  const { overrides, calls } = await startThirdParty(t);
  const service = await startService(t, { settings: { EGRESS_OVERRIDES: overrides } });
  const first = await execute(service, 'of-the-caller', service.key);
  assert.equal(first.status, 200, first.message);
  assert.equal((await execute(service, 'of-the-caller', service.key)).runId, first.runId);
  const guesses = await Promise.all(Array.from({ length: 200 }, (_, n) => execute(service, `guess-${n}`, service.key)));
  assert.deepEqual(countByStatus(guesses), { 409: 190, 422: 10 });
  const late = await execute(service, 'of-the-caller', service.key);
  assert.deepEqual([late.status, late.code], [409, 'DUPLICATE_OBJECT']);
  assert.match(late.message, /no longer returns its response/);
  assert.equal(calls(), 1);
});

test('[kept-answers] on PostgreSQL without an encryption key, another process replays the response, ten wrong requests close the key, and a backup omits the secret', async (t) => {
  const { overrides, calls } = await startThirdParty(t);
  const database = { url: await databaseFor(t) };
  const settings = { EGRESS_OVERRIDES: overrides, DATABASE_URL: database.url };
  const one = await startService(t, { settings });
  const first = await execute(one, 'of-the-caller');
  assert.equal(first.status, 200, first.message);
  assert.equal(await one.stop(), 0);
  const two = await startService(t, { settings, folder: one.folder, key: one.key });
  assert.equal((await execute(two, 'of-the-caller')).runId, first.runId);
  const guesses = await Promise.all(Array.from({ length: 40 }, (_, n) => execute(two, `guess-${n}`)));
  assert.deepEqual(countByStatus(guesses), { 409: 30, 422: 10 });
  assert.equal(calls(), 1);

  const into = join(await temporaryFolder(t), 'backup');
  await succeed({ folder: one.folder, settings: { DATABASE_URL: database.url } }, 'backup', into);
  const { stdout } = await run('pg_restore', ['--data-only', '--file=-', join(into, 'database.dump')]);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ secret: string }>('select secret from answer_key');
  await client.end();
  assert.equal(rows.length, 1);
  assert.match(stdout, /COPY public\.idempotency /);
  assert.equal(stdout.includes(rows[0]?.secret ?? ''), false);
});
