import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { commandName } from '@quartermaster/contract/command-name';
import { checkBundle, recordExamples, runExamples } from '@quartermaster/server/authoring';
import { parse } from 'yaml';
import { scaffoldBundle } from './scaffold.ts';

test('a call of an API becomes a plugin without code, which passes its test after its example was recorded', async (t) => {
  const requestedUrls: string[] = [];
  // An API invented for this test, shaped like a search for places.
  const server = createServer(({ url = '' }, response) => {
    requestedUrls.push(url);
    response.writeHead(200, { 'content-type': 'application/json' }).end('[{"name":"Bergen","lat":60.39}]');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const out = await mkdtemp(join(tmpdir(), 'quartermaster-scaffold-'));
  t.after(async () => {
    server.closeAllConnections();
    server.close();
    await rm(out, { recursive: true, force: true });
  });
  const { port } = server.address() as AddressInfo; // it listens on TCP

  const folder = await scaffoldBundle(
    out,
    'places',
    'https://places.example/v2/find-place?q=Bergen&limit=1&filter[in]=no',
  );
  assert.deepEqual((await checkBundle(folder)).failures, []);
  const [before] = await runExamples(folder);
  assert.equal(
    before?.wrong,
    `no response was recorded for this example. Run "${commandName} bundle record" with the folder of places.`,
  );

  const recorded = await recordExamples({
    ...{ folder, credentials: {}, plugins: [], allowWrites: false, updateOutputs: true },
    environment: { QUARTERMASTER_EGRESS_OVERRIDES: `{"https://places.example":"http://127.0.0.1:${port}"}` },
  });
  assert.deepEqual(recorded, [
    { pluginId: 'find_place', index: 0, result: 'recorded', detail: 'fixtures/find_place-1.cassette.json' },
  ]);
  assert.deepEqual(requestedUrls, ['/v2/find-place?q=Bergen&limit=1&filter%5Bin%5D=no']);
  assert.deepEqual(await runExamples(folder), [{ pluginId: 'find_place', index: 0, wrong: null }]);
  const { examples, input_schema } = parse(await readFile(join(folder, 'find_place.yaml'), 'utf8'));
  assert.deepEqual([input_schema.properties.q.type, input_schema.properties.limit.type], ['string', 'integer']);
  assert.deepEqual(examples, [
    { input: { q: 'Bergen', limit: 1, filter_in: 'no' }, output: { result: [{ name: 'Bergen', lat: 60.39 }] } },
  ]);
  await assert.rejects(scaffoldBundle(out, 'other', 'places.example'), /must be an http or https URL/);
});
