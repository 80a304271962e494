import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settledRecord } from '../support/client.ts';
import { startService } from '../support/service.ts';

/**
 * Sends the requests of the official Python client (`taskingai` 0.3.0), byte for byte where it matters. The file part
 * comes first, and its type is always application/octet-stream. Explicit nulls mean absent, deletes carry a body, and
 * `metadata` is always sent. The tests also check what that client requires of the responses.
 */
const boundary = '2f1a9c4e8b7d6f50';

function clientUpload(name: string, content: string, purpose: string): string {
  return (
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n` +
    `Content-Type: application/octet-stream\r\n\r\n${content}\r\n` +
    `--${boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\n${purpose}\r\n--${boundary}--\r\n`
  );
}

test('[client] the official client: files, collections, records and chunk query work unmodified', async (t) => {
  const { filesUrl, key, client } = await startService(t);
  const headers = { Authorization: `Bearer ${key}`, Accept: 'application/json' };
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(filesUrl + path, {
      method,
      headers: body === undefined ? headers : { ...headers, 'Content-Type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const json = (await answer.json()) as { status: string; data: Record<string, unknown> & Record<string, unknown>[] };
    assert.equal(answer.status, 200, JSON.stringify(json));
    assert.equal(json.status, 'success');
    return json;
  };
  const upload = async (name: string, content: string, purpose: string) => {
    const answer = await fetch(`${filesUrl}/v1/files`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': `multipart/form-data; boundary=${boundary}` },
      body: clientUpload(name, content, purpose),
    });
    assert.equal(answer.status, 200);
    return ((await answer.json()) as { data: { file_id: string } }).data.file_id;
  };

  // Collections.
  const created = await call('POST', '/v1/collections', {
    name: 'c',
    type: 'text',
    description: '',
    capacity: 1000,
    embedding_model_id: 'TpHmCB8s',
    metadata: {},
  });
  const collection = created.data;
  const collectionId = String(collection.collection_id);
  assert.equal(collectionId.length, 24);
  assert.deepEqual(
    [collection.embedding_model_id, collection.capacity, collection.status, collection.type],
    ['TpHmCB8s', 1000, 'ready', 'text'],
  );
  const listed = (await call('GET', '/v1/collections?limit=10&order=desc')) as unknown as Record<string, unknown>;
  assert.equal(listed.fetched_count, 1);
  assert.equal(listed.has_more, false);
  await call('POST', `/v1/collections/${collectionId}`, { name: 'renamed', description: null, metadata: { a: '1' } });

  // A record from a file.
  const fileId = await upload('notes.md', '# Tea\n\nGreen tea is steeped at seventy degrees.\n', 'record_file');
  const splitter = { type: 'token', chunk_size: 100, chunk_overlap: 10, separators: null };
  const record = (
    await call('POST', `/v1/collections/${collectionId}/records`, {
      type: 'file',
      title: 'Tea',
      content: null,
      file_id: fileId,
      url: null,
      text_splitter: splitter,
      metadata: {},
    })
  ).data;
  assert.equal(record.status, 'creating');
  const recordId = String(record.record_id);
  assert.equal((await settledRecord(client, collectionId, recordId)).status, 'ready');
  const content = String((await call('GET', `/v1/collections/${collectionId}/records/${recordId}`)).data.content);
  assert.ok(content.includes(fileId));
  const size = Number(content.split('"file_size":')[1]?.replace('}', '').trim());
  assert.ok(size > 0, `file_size is the last member of ${content}`);

  // A record from text. The client updates it by sending everything, with null for unset members.
  const text = (
    await call('POST', `/v1/collections/${collectionId}/records`, {
      type: 'text',
      title: null,
      content: 'Black tea is steeped at ninety-five degrees.',
      file_id: null,
      url: null,
      text_splitter: splitter,
      metadata: { kind: 'tea' },
    })
  ).data;
  await settledRecord(client, collectionId, String(text.record_id));
  const updated = await call('POST', `/v1/collections/${collectionId}/records/${text.record_id}`, {
    type: 'text',
    title: null,
    content: 'White tea is steeped at eighty degrees.',
    file_id: null,
    url: null,
    text_splitter: splitter,
    metadata: {},
  });
  assert.equal(updated.data.status, 'creating');
  await settledRecord(client, collectionId, String(text.record_id));

  // Query.
  const answer = (await call('POST', `/v1/collections/${collectionId}/chunks/query`, {
    query_text: 'How hot for white tea?',
    top_k: 3,
    max_tokens: null,
    score_threshold: null,
    rerank_model_id: null,
  })) as unknown as { data: Array<Record<string, unknown>>; fetched_count: number };
  assert.equal(answer.fetched_count, answer.data.length);
  assert.match(String(answer.data[0]?.content), /White tea/);
  for (const chunk of answer.data) {
    assert.ok('record_id' in chunk);
    assert.ok(Number(chunk.score) >= 0 && Number(chunk.score) <= 1);
  }
  assert.ok(!answer.data.some((chunk) => String(chunk.content).includes('Black tea')), 'the old text is gone');

  // Deletes carry a body.
  await call('DELETE', `/v1/collections/${collectionId}/records/${recordId}`, {});
  await call('DELETE', `/v1/collections/${collectionId}`, {});
});

test('[client] the official client: a question–answer sheet becomes a record of a qa collection', async (t) => {
  const { filesUrl, key, client } = await startService(t);
  const answer = await fetch(`${filesUrl}/v1/files`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    body: clientUpload('Q&A.csv', 'question,answer\nWho?,"Me, of course."\nWhen?,Now.\n', 'qa_record_file'),
  });
  const fileId = ((await answer.json()) as { data: { file_id: string } }).data.file_id;
  const collection = await client.collections.create({ name: 'qa', type: 'qa', capacity: 1000 });
  const send = (body: unknown, recordId = '') =>
    fetch(`${filesUrl}/v1/collections/${collection.collection_id}/records${recordId}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  const request = {
    type: 'qa_sheet',
    title: null,
    content: null,
    file_id: fileId,
    url: null,
    text_splitter: null,
    metadata: {},
  };
  const recordAnswer = (await (await send(request)).json()) as { data: { record_id: string } };
  const recordId = recordAnswer.data.record_id;
  const settled = await settledRecord(client, collection.collection_id, recordId);
  assert.deepEqual([settled.status, settled.num_chunks], ['ready', 2]);
  assert.equal((await send(request, `/${recordId}`)).status, 200);
  const again = await settledRecord(client, collection.collection_id, recordId);
  assert.deepEqual([again.status, again.num_chunks], ['ready', 2]);
});
