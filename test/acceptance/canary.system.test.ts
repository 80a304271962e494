import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCanaryService } from '../support/canary-service.ts';
import { marker, ways } from '../support/canary-ways.ts';
import { createSecretFinder } from '../support/find-secret.ts';

/**
 * Searches responses with their headers, metrics, runs and the log at level trace after each case. At the end and after
 * crashes it also searches the folders that the service writes to, with its database.
 */
test('[canary] no response, log or stored data contains a credential, however a run fails', async (t) => {
  const canary = await startCanaryService(t);
  assert.ok(ways.length >= 40, `${ways.length} ways`);
  for (const { name, go } of ways) {
    await t.test(`[canary] ${name}: no credential is found`, async () => {
      await go(canary);
      assert.deepEqual(await canary.look(), []);
    });
  }
  await t.test('[canary] no credential is found in the records of runs, nor in the folders', async () => {
    for (const { run_id } of await allRuns(canary)) await canary.call('GET', `/v1/runs/${run_id}`);
    assert.deepEqual(await canary.look(), []);
    assert.deepEqual(await canary.lookInFolders(), []);
  });
  await t.test('[canary] the same search finds harmless values in responses, the log and the folders', async () => {
    const [{ go }] = ways.filter(({ name }) => name.startsWith('handler logs')) as [(typeof ways)[number]];
    await go(canary);
    for (const { run_id } of await allRuns(canary)) await canary.call('GET', `/v1/runs/${run_id}`);
    assert.deepEqual(await canary.places(marker), { answers: true, log: true, folders: true });
  });
  assert.equal(await canary.service.stop(), 0);
  assert.deepEqual(await canary.lookInFolders(), [], 'after the stop');
});

async function allRuns(canary: Awaited<ReturnType<typeof startCanaryService>>): Promise<Array<{ run_id: string }>> {
  const runs: Array<{ run_id: string }> = [];
  for (let after = ''; ; after = `&after=${runs.at(-1)?.run_id}`) {
    const { text } = await canary.call('GET', `/v1/runs?limit=100${after}`);
    const page: { data: Array<{ run_id: string }>; has_more: boolean } = JSON.parse(text);
    runs.push(...page.data);
    if (!page.has_more) return runs;
  }
}

const secret = 'Planted/"Secret"+0123456789';
const forms: Readonly<Record<string, string | Buffer>> = {
  'as it is': secret,
  'cut at its beginning': secret.slice(5),
  'cut at its end': secret.slice(0, 20),
  backwards: [...secret].reverse().join(''),
  'in lower case': secret.toLowerCase(),
  'as JSON': JSON.stringify({ a: secret }),
  'as JSON in JSON': JSON.stringify({ a: JSON.stringify({ a: secret }) }),
  'in a URL': encodeURIComponent(secret),
  'in base64': Buffer.from(`user:${secret}:x`).toString('base64'),
  'in base64url': Buffer.from(`a${secret}`).toString('base64url'),
  'in hexadecimal': Buffer.from(secret).toString('hex'),
  'in UTF-16LE': Buffer.from(secret, 'utf16le'),
  'in UTF-16BE': Buffer.from(secret, 'utf16le').swap16(),
};

test('[canary] the search finds a credential in every encoding, and finds nothing where there is none', () => {
  const finder = createSecretFinder([secret]);
  for (const [name, form] of Object.entries(forms)) {
    const bytes = Buffer.concat([Buffer.from('before '), Buffer.from(form), Buffer.from(' after')]);
    assert.equal(finder.find(bytes)[0]?.secret, secret, name);
  }
  assert.deepEqual(finder.find(Buffer.from('[redacted] and Planted, "Secret"')), []);
});
