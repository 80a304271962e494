import assert from 'node:assert/strict';
import { test } from 'node:test';
import { workbook } from '../../../../../../test/support/sample-office.ts';
import { csvOf, pairsIn } from '../../../../../../test/support/sample-texts.ts';
import {
  newId,
  openTestCollection,
  openTestDatabase,
  openTestPostgres,
  openTestService,
} from '../testing/test-collections.suite.ts';

/** The body that the official client sends for a record: every key, including nulls. */
const clientBody = {
  type: 'text',
  title: '',
  content: null,
  file_id: null,
  url: null,
  text_splitter: null,
  metadata: {},
};
const splitter = { type: 'token', chunk_size: 100, chunk_overlap: 10 };

test('a text record is created, listed, changed and deleted', async (t) => {
  const { call, settled, collectionId } = await openTestCollection(t);
  const url = `/v1/collections/${collectionId}/records`;
  const sent = {
    ...clientBody,
    title: 'Titel',
    content: '  Foxes are small. \n',
    text_splitter: splitter,
    metadata: { a: 'b' },
  };
  const created = await call('POST', url, sent);
  const { record_id, created_timestamp, ...rest } = created.body.data;
  assert.match(record_id, /^rcrd[a-z0-9]{20}$/);
  assert.deepEqual(rest, {
    object: 'Record',
    collection_id: collectionId,
    title: 'Titel',
    status: 'creating',
    num_chunks: 0,
    type: 'text',
    content: 'Foxes are small.',
    metadata: { a: 'b' },
    progress: { stage: 'queued', percent: 0, attempt: 0 },
    error: null,
    embedding: null,
    report: null,
    updated_timestamp: created_timestamp,
  });
  const ready = await settled(collectionId, record_id);
  assert.deepEqual([ready.status, ready.num_chunks, ready.progress, ready.error], ['ready', 1, null, null]);
  assert.equal(ready.report.format, 'text');
  assert.deepEqual((await call('GET', url)).body.data, [ready]);
  const chunks = (await call('GET', `${url}/${record_id}/chunks?order=asc`)).body;
  assert.deepEqual(Object.keys(chunks).sort(), ['data', 'fetched_count', 'has_more', 'status', 'total_count']);
  assert.equal(chunks.total_count, null);
  assert.equal(chunks.data[0].content, 'Titel\n\nFoxes are small.');
  assert.deepEqual(
    [chunks.data[0].record_id, 'object' in chunks.data[0], 'score' in chunks.data[0]],
    [record_id, false, false],
  );

  const changed = await call('POST', `${url}/${record_id}`, { ...clientBody, title: null, content: 'Bears are big.' });
  assert.deepEqual(
    [changed.body.data.status, changed.body.data.title, changed.body.data.metadata],
    ['creating', 'Titel', {}],
  );
  assert.equal((await settled(collectionId, record_id)).content, 'Bears are big.');
  const after = (await call('GET', `${url}/${record_id}/chunks`)).body.data;
  assert.deepEqual(
    after.map((chunk: { content: string }) => chunk.content),
    ['Titel\n\nBears are big.'],
  );
  assert.equal((await call('GET', `/v1/collections/${collectionId}`)).body.data.num_chunks, 1);

  assert.deepEqual((await call('DELETE', `${url}/${record_id}`, {})).body, { status: 'success' });
  assert.equal((await call('GET', `${url}/${record_id}`)).status, 404);
  assert.equal((await call('GET', `${url}/${record_id}/chunks`)).status, 404);
  assert.deepEqual((await call('GET', `/v1/collections/${collectionId}/chunks`)).body.data, []);
});

for (const [name, open] of Object.entries({ SQLite: openTestDatabase, PostgreSQL: openTestPostgres })) {
  test(`concurrent changes of different fields are all stored: ${name}`, async (t) => {
    const { call, record, collectionId } = await openTestCollection(t, { database: await open(t) });
    const { record_id } = await record(collectionId, { content: 'Foxes are small.' });
    const url = `/v1/collections/${collectionId}/records/${record_id}`;
    for (let round = 0; round < 5; round++) {
      const sent = { title: `title ${round}`, content: `content ${round}`, metadata: { round: String(round) } };
      const updates = Object.entries({ ...sent, text_splitter: splitter });
      const answers = await Promise.all(updates.map(([name, value]) => call('POST', url, { [name]: value })));
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
      const { title, content, metadata } = (await call('GET', url)).body.data;
      assert.deepEqual({ title, content, metadata }, sent);
    }
  });
}

test('a change that always conflicts with another one results in 409', async (t) => {
  const database = await openTestDatabase(t);
  const { call, record, collectionId } = await openTestCollection(t, { database });
  const { record_id } = await record(collectionId, { content: 'Foxes are small.', text_splitter: splitter });
  // The stored text never equals its parsed form, so every update looks like a conflict with a faster writer.
  const spaced = JSON.stringify(splitter, null, 1);
  await database.write.updateTable('record').set({ text_splitter: spaced }).where('id', '=', record_id).execute();
  const { status, body } = await call('POST', `/v1/collections/${collectionId}/records/${record_id}`, { title: 'T' });
  assert.deepEqual([status, body.error.code], [409, 'DUPLICATE_OBJECT']);
});

test('a file record names its file in its content, with the size last, and another record can use the same file', async (t) => {
  const service = await openTestCollection(t);
  const { projectId, record, call, collectionId } = service;
  const fileId = service.files.add(projectId, 'record_file', 'a "b".md', '# Head\n\nFoxes are small.\n');
  const body = { ...clientBody, type: 'file', title: 'T', file_id: fileId, text_splitter: splitter };
  const created = await record(collectionId, body);
  assert.equal(created.status, 'ready');
  assert.equal(created.content, `{"file_id":"${fileId}","file_name":"a \\"b\\".md","file_size":25}`);
  assert.equal((await record(collectionId, body)).status, 'ready');
  const document = service.files.add(projectId, 'document_file', 'a.json', '{"name":"Foxes"}');
  assert.equal((await record(collectionId, { type: 'file', file_id: document })).status, 'ready');
  const updated = await call('POST', `/v1/collections/${collectionId}/records/${created.record_id}`, {
    type: 'file',
    file_id: fileId,
  });
  assert.equal(updated.body.data.status, 'creating');
});

test('a sheet record has one chunk for each pair, and refused rows make it partial', async (t) => {
  const service = await openTestCollection(t, {}, { type: 'qa' });
  const { projectId, record, call, settled, collectionId } = service;
  const sheet = service.files.add(
    projectId,
    'qa_record_file',
    'Q&A.csv',
    'question,answer\n"Why, fox?",Because.\nWho?,Me\n',
  );
  const created = await record(collectionId, { type: 'qa_sheet', file_id: sheet, metadata: {}, text_splitter: null });
  assert.deepEqual([created.status, created.num_chunks, created.type], ['ready', 2, 'qa_sheet']);
  const url = `/v1/collections/${collectionId}/records/${created.record_id}`;
  const [first] = (await call('GET', `${url}/chunks?order=asc`)).body.data;
  assert.deepEqual([first.question, first.answer], ['Why, fox?', 'Because.']);
  for (const query_text of ['why fox', 'because']) {
    const found = await call('POST', `/v1/collections/${collectionId}/chunks/query`, { query_text });
    assert.equal(found.body.data[0].chunk_id, first.chunk_id, query_text);
  }

  const half = service.files.add(
    projectId,
    'qa_record_file',
    'half.csv',
    'question,answer\nOnly a question,\nWho?,Me\n',
  );
  await call('POST', url, { type: 'qa_sheet', file_id: half });
  const partial = await settled(collectionId, created.record_id);
  assert.deepEqual([partial.status, partial.num_chunks], ['partial', 1]);
  assert.deepEqual(partial.report.rows, { total: 2, accepted: 1, rejected: 1, duplicate: 0 });
});

test('a web record fetches and reads its page, and a page that cannot be fetched ends it in error', async (t) => {
  const pages = {
    fetch: async (url: string) =>
      url.endsWith('/gone')
        ? ({ kind: 'failed', code: 'page_unreachable', message: 'It answered 404.' } as const)
        : ({
            kind: 'page',
            bytes: Buffer.from('<p>F\xfcchse sind klein.</p>', 'latin1'),
            extension: 'html',
            charset: 'iso-8859-1',
          } as const),
  };
  const { record, call, collectionId } = await openTestCollection(t, { pages });
  const created = await record(collectionId, { ...clientBody, type: 'web', url: 'https://example.com/a?b=c' });
  assert.deepEqual([created.status, created.content], ['ready', '{"url":"https://example.com/a?b=c"}']);
  const chunks = await call('GET', `/v1/collections/${collectionId}/records/${created.record_id}/chunks`);
  assert.equal(chunks.body.data[0].content, 'Füchse sind klein.');
  const failed = await record(collectionId, { type: 'web', url: 'https://example.com/gone' });
  assert.deepEqual([failed.status, failed.error], ['error', { code: 'page_unreachable', message: 'It answered 404.' }]);
});

test('an invalid field is refused with the value found and the value required', async (t) => {
  const service = await openTestService(t);
  const { projectId, collection, call } = service.createProject();
  const ids = { text: await collection({ type: 'text' }), qa: await collection({ type: 'qa' }) };
  const plain = service.files.add(projectId, 'record_file', 'a.txt', 'text');
  const sheet = service.files.add(projectId, 'qa_record_file', 'a.csv', 'question,answer\na,b\n');
  const workbook = service.files.add(projectId, 'document_file', 'a.xlsx', '');
  const foreign = service.files.add(newId('project'), 'record_file', 'a.txt', 'text');
  const file = newId('file');
  const cases: Array<[keyof typeof ids, object, number, RegExp]> = [
    ['qa', { type: 'file', file_id: plain }, 422, /"qa".*"file".*"text"/],
    ['text', { type: 'qa_sheet', file_id: sheet }, 422, /"text".*"qa_sheet".*"qa"/],
    ['text', { type: 'file', file_id: sheet }, 422, /"record_file" or "document_file" .*"file".*"qa_record_file"/],
    ['qa', { type: 'qa_sheet', file_id: workbook }, 422, /"qa_record_file" .*"qa_sheet".*"document_file"/],
    ['qa', { type: 'qa_sheet', file_id: plain }, 422, /"qa_record_file".*"qa_sheet".*"record_file"/],
    ['text', { type: 'file' }, 422, /^body\/file_id is required/],
    ['text', { type: 'file', file_id: file }, 404, /file/],
    ['text', { type: 'file', file_id: foreign }, 404, /file/],
    ['text', { type: 'file', file_id: '../x' }, 404, /file/],
    ['text', { type: 'text' }, 422, /^body\/content is required/],
    ['text', { type: 'text', content: ' \n ' }, 422, /^body\/content must be text .*; received blank text/],
    ['text', { type: 'text', content: '' }, 422, /^body\/content/],
    ['text', { type: 'text', content: 'a\0b' }, 422, /^body\/content/],
    ['text', { type: 'web' }, 422, /^body\/url is required/],
    ['text', { type: 'web', url: 'http://example.com' }, 422, /^body\/url.*https/],
    ['text', { type: 'web', url: 'nonsense' }, 422, /^body\/url.*https/],
    ['text', { type: 'web', url: 'https://u:secret@example.com' }, 422, /^body\/url/],
    ['text', { type: 'image', content: 'a' }, 422, /^body\/type/],
    [
      'text',
      { content: 'a', text_splitter: { type: 'token', chunk_size: 100 } },
      422,
      /^body\/text_splitter\/chunk_overlap/,
    ],
    ['text', { content: 'a', text_splitter: { type: 'token', chunk_size: 100, chunk_overlap: 51 } }, 422, /half/],
    ['text', { content: 'a', text_splitter: { type: 'separator' } }, 422, /^body\/text_splitter\/separators/],
    ['text', { content: 'a', title: 'x'.repeat(256) }, 422, /^body\/title/],
    ['text', { content: 'a', metadata: { a: 1 } }, 422, /^body\/metadata/],
    ['text', { content: 'a', metadata: { 'a\nb': 1 } }, 422, /^body\/metadata/],
  ];
  for (const [type, body, expected, message] of cases) {
    const { status, body: answer } = await call('POST', `/v1/collections/${ids[type]}/records`, body);
    assert.equal(status, expected, JSON.stringify(body));
    assert.match(answer.error.message, message);
    assert.ok(!answer.error.message.includes('secret'));
  }
  for (const id of Object.values(ids))
    assert.deepEqual((await call('GET', `/v1/collections/${id}/records`)).body.data, []);
});

test('an update creates the chunks again only when it changes their source', async (t) => {
  const { call, record, collectionId } = await openTestCollection(t);
  const created = await record(collectionId, { content: 'words', metadata: { a: 'b' } });
  const url = `/v1/collections/${collectionId}/records/${created.record_id}`;
  const status = async (body: object) => (await call('POST', url, body)).body.data.status;
  assert.deepEqual((await call('POST', url, {})).body.data, created);
  assert.deepEqual((await call('POST', url, { unknown: 1, title: null })).body.data, created);
  const relabelled = (await call('POST', url, { metadata: { c: 'd' } })).body.data;
  assert.deepEqual([relabelled.status, relabelled.metadata], ['ready', { c: 'd' }]);
  for (const body of [{ title: 'x' }, { content: 'y' }, { text_splitter: splitter }, { type: 'text' }]) {
    assert.equal(await status(body), 'creating', JSON.stringify(body));
  }
  assert.equal((await call('POST', url, { type: 'web' })).status, 422);
  const answer = (await call('POST', url, { type: 'web', url: 'https://example.com' })).body.data;
  assert.deepEqual([answer.type, answer.content, answer.title], ['web', '{"url":"https://example.com"}', 'x']);
});

test('metadata that change during a content change or a retry are not overwritten', async (t) => {
  const { call, record, collectionId } = await openTestCollection(t);
  const { record_id } = await record(collectionId, { content: 'words', metadata: { round: '-' } });
  const url = `/v1/collections/${collectionId}/records/${record_id}`;
  for (let round = 0; round < 20; round++) {
    const metadata = { round: String(round) };
    // The other requests read the record before this change and write after it.
    const change = call('POST', url, { metadata });
    await Promise.all([change, call('POST', url, { content: `words ${round}` }), call('POST', `${url}/retry`)]);
    assert.deepEqual((await call('GET', url)).body.data.metadata, metadata);
  }
});

test('a document that cannot be read ends in error with its reason, and its record can be deleted', async (t) => {
  const service = await openTestCollection(t);
  const { projectId, call, record, collectionId } = service;
  for (const [name, bytes, code] of [
    ['empty.txt', '', 'file_empty'],
    ['broken.pdf', '%PDF-1.7 nothing more', 'file_damaged'],
  ] as const) {
    const file_id = service.files.add(projectId, 'record_file', name, bytes);
    const created = await record(collectionId, { type: 'file', file_id });
    assert.deepEqual(
      [created.status, created.error.code, created.num_chunks, created.progress],
      ['error', code, 0, null],
    );
    assert.ok(created.error.message.length > 10);
    assert.equal((await call('DELETE', `/v1/collections/${collectionId}/records/${created.record_id}`)).status, 200);
  }
});

test('a record that does not fit into its collection ends in error and leaves no chunk', async (t) => {
  const { call, record, collectionId } = await openTestCollection(t, {}, { capacity: 3 });
  const text_splitter = { type: 'separator', separators: ['|'] };
  assert.equal((await record(collectionId, { content: 'a|b', text_splitter })).status, 'ready');
  const tooMuch = await record(collectionId, { content: 'c|d|e', text_splitter });
  assert.deepEqual([tooMuch.status, tooMuch.error.code], ['error', 'capacity_exceeded']);
  assert.equal((await call('POST', `/v1/collections/${collectionId}/chunks`, { content: 'direct' })).status, 200);
  const full = await call('POST', `/v1/collections/${collectionId}/chunks`, { content: 'no more' });
  assert.deepEqual([full.status, full.body.error.code], [429, 'RESOURCE_LIMIT_REACHED']);
  assert.equal((await call('GET', `/v1/collections/${collectionId}`)).body.data.num_chunks, 3);
});

test('each sheet becomes one record, every row is accounted for, and its questions are found', async (t) => {
  const service = await openTestService(t);
  const { projectId, call, collection, record } = service.createProject();
  const header = ['question', 'answer'];
  const sheets = {
    'en.csv': [Buffer.from(csvOf(pairsIn('en'))), 'weeks borrowed book', 'How many weeks may a book be borrowed?'],
    'ar.csv': [Buffer.from(`\ufeff${csvOf(pairsIn('ar'))}`), 'قاعة القراءة مغلقة', 'متى تكون قاعة القراءة مغلقة؟'],
    'zh.xlsx': [workbook([{ name: 'zh', rows: [header, ...pairsIn('zh')] }]), '阅览室关闭', '阅览室什么时候关闭？'],
  } as const;
  for (const [name, [bytes, query_text, question]] of Object.entries(sheets)) {
    const file_id = service.files.add(projectId, 'qa_record_file', name, bytes);
    const collectionId = await collection({ type: 'qa' });
    const created = await record(collectionId, { type: 'qa_sheet', file_id });
    assert.equal(created.status, 'ready', name);
    assert.equal(created.num_chunks, created.report.rows.total, name);
    assert.equal(created.num_chunks, 300, name);
    const found = await call('POST', `/v1/collections/${collectionId}/chunks/query`, { query_text });
    assert.equal(found.body.data[0].question, question, name);
  }
});
