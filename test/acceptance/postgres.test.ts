import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { settledRecord } from '../support/client.ts';
import { openLine } from '../support/line.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';

test('[postgres] the service works on PostgreSQL as on SQLite, and has all its data after a restart', async (t) => {
  const folder = await temporaryFolder(t);
  const database = await createTestDatabase();
  const settings = { DATABASE_URL: database.url };
  const service = await startService(t, { folder, settings });
  t.after(() => database.drop());

  const file = await service.client.files.upload(new Blob(['# Tea\n\nGreen tea is steeped at seventy degrees.\n']), {
    purpose: 'record_file',
    name: 'tea.md',
  });
  const { collection_id: collection } = await service.client.collections.create({ name: 'tea' });
  const record = await service.client.records.create(collection, { type: 'file', file_id: file.file_id });
  assert.equal((await settledRecord(service.client, collection, record.record_id)).status, 'ready');
  assert.equal(await service.stop(), 0);

  const again = await startService(t, { folder, settings });
  const [best] = await again.client.search(collection, { query_text: 'How hot is green tea?', top_k: 1 });
  assert.match(best?.content ?? '', /seventy degrees/);
  assert.equal((await again.client.files.get(file.file_id)).references[0]?.record_id, record.record_id);
  assert.equal(await again.stop(), 0);
});

test('[postgres] readiness reports an unavailable database, and the service recovers by itself', async (t) => {
  const database = await createTestDatabase();
  const line = await openLine(database.url);
  t.after(async () => {
    await line.cut();
    await database.drop();
  });
  const service = await startService(t, { settings: { DATABASE_URL: line.url } });
  const { client } = service;
  const { collection_id: collection } = await client.collections.create({ name: 'tea' });
  const ask = () => client.search(collection, { query_text: 'tea' });
  const upload = () => client.files.upload(new Blob(['tea']), { purpose: 'record_file', name: 'tea.md' });
  const file = await upload();
  assert.deepEqual(await ask(), []);

  await line.cut();
  const calls = [ask, upload, () => client.files.get(file.file_id), () => client.collections.create({ name: 'more' })];
  for (const call of calls) await assert.rejects(call, { status: 503, code: 'SERVICE_UNAVAILABLE' });
  assert.doesNotMatch(service.log(), /"msg":"request failed"/);
  const refusal = await sendHeadOfUpload(service);
  assert.match(refusal, /^HTTP\/1.1 503 .*\r\nretry-after: 1\r\n.*SERVICE_UNAVAILABLE/is, 'before the body is read');
  assert.match(refusal, /\r\nconnection: close\r\n/i);

  await line.mend();
  // Requests are refused immediately until the next probe has found the database.
  while (!(await fetch(`${service.filesUrl}/v1/ready`)).ok) await pause(20);
  assert.deepEqual(await ask(), []);
  assert.deepEqual((await client.files.list()).data, [file]);
  assert.equal(await service.stop(), 0);
});

/** Sends the headers of an upload without its body. Returns the answer, for whose end it does not wait. */
async function sendHeadOfUpload({ filesUrl, key }: StartedService): Promise<string> {
  const { hostname, port, host } = new URL(filesUrl);
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /v1/files HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n` +
      'Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000000\r\n\r\n',
  );
  let answer = '';
  for await (const piece of socket.setEncoding('utf8')) {
    answer += piece;
    if (answer.includes('SERVICE_UNAVAILABLE')) break;
  }
  return answer;
}
