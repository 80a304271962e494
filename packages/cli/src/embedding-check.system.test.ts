import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { startEmbeddingDouble } from '../../../test/support/embedding-doubles.ts';
import { temporaryFolder } from '../../../test/support/service.ts';
import { runCli } from './testing/run-cli.ts';

type Settings = Readonly<Record<string, string>>;

/** Runs the command with these settings of embedding. */
async function check(t: TestContext, settings: Settings, ...args: string[]) {
  const environment = Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [`QUARTERMASTER_EMBEDDING_${name}`, value]),
  );
  return runCli(['embedding', 'check', ...args], { home: await temporaryFolder(t), environment });
}

async function startServer(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const openDouble = (t: TestContext) =>
  startEmbeddingDouble(t, 'openai', { key: 'right', embed: (_, dimensions) => Array(dimensions).fill(1) });

test('"embedding check" names a working model and its dimensions after one request', async (t) => {
  const { url, requests } = await openDouble(t);
  const settings = { PROVIDER: 'openai', URL: url, MODEL: 'm', KEY: 'right' };
  const { code, output, errors } = await check(t, settings);
  assert.deepEqual([code, output], [0, 'openai m: works, 3 dimensions\n'], errors);
  assert.deepEqual(requests, [{ texts: ['test'], use: null }]);
  const asJson = await check(t, settings, '--json');
  const model = { provider: 'openai', model: 'm', dimensions: 3, problem: null };
  assert.deepEqual(JSON.parse(asJson.output), { models: [model] });
});

test('"embedding check" ends with 1 and one sentence for a wrong address, key, model or number of dimensions', async (t) => {
  const { url, requests } = await openDouble(t);
  const short = await startServer(t, (_, response) =>
    response.end(JSON.stringify({ data: [{ index: 0, embedding: [1, 0] }] })),
  );
  const working = { PROVIDER: 'openai', URL: url, MODEL: 'm', KEY: 'right' };
  const cases: ReadonlyArray<readonly [change: Settings, message: RegExp]> = [
    [{ URL: 'http://127.0.0.1:9' }, /The embedding service cannot be reached/],
    [{ KEY: 'wrong' }, /rejected the API key with status 401\. Check QUARTERMASTER_EMBEDDING_KEY\./],
    [{ URL: `${url}/other` }, /status 404 \(Not Found\)\. Check QUARTERMASTER_EMBEDDING_URL and \S+_MODEL\./],
    [{ URL: short, DIMENSIONS: '256' }, /vector of 2 dimensions, but QUARTERMASTER_EMBEDDING_DIMENSIONS is 256\./],
  ];
  for (const [change, message] of cases) {
    const { code, output, errors } = await check(t, { ...working, ...change });
    assert.match(output, message, errors);
    assert.match(output, /^openai m: failed\. /);
    assert.ok(!output.includes('wrong'), output);
    assert.equal(code, 1, output);
  }
  assert.deepEqual(requests, []);
});

test('"embedding check" says that no model is configured', async (t) => {
  const { code, errors } = await check(t, {});
  assert.match(
    errors,
    /No embedding model is configured\. Run ".* embedding use multilingual-e5-small", or set QUARTERMASTER_EMBEDDING_PROVIDER\./,
  );
  assert.equal(code, 78);
});
