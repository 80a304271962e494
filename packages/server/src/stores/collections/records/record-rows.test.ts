import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, openTestService } from '../testing/test-collections.suite.ts';

const purpose = 'qa_record_file';

async function openQa(t: Parameters<typeof openTestService>[0]) {
  const service = await openTestService(t);
  const project = service.createProject();
  const collectionId = await project.collection({ type: 'qa' });
  const records = `/v1/collections/${collectionId}/records`;
  const addSheet = (text: string) => service.files.add(project.projectId, purpose, 'sheet.csv', text);
  const importSheet = (text: string, more: object = {}) =>
    project.record(collectionId, { type: 'qa_sheet', file_id: addSheet(text), ...more });
  const rowsOf = (recordId: string, query = ''): Promise<Answer> =>
    project.call('GET', `${records}/${recordId}/rows${query}`);
  const csvOf = async (recordId: string, accept = 'text/csv', query = '') => {
    const headers = { authorization: `Bearer ${project.projectId}`, accept };
    return service.app.inject({ method: 'GET', url: `${records}/${recordId}/rows${query}`, headers });
  };
  const pairs = async () => {
    const { data } = (await project.call('GET', `/v1/collections/${collectionId}/chunks?limit=100&order=asc`)).body;
    return data.map(({ question, answer }: { question: string; answer: string }) => `${question}=${answer}`).sort();
  };
  return { ...service, ...project, collectionId, records, addSheet, importSheet, rowsOf, csvOf, pairs };
}

const mixed = 'question,answer,tags,note\nq1,a1,x,\n,lost,y,"=cmd|x"\nq3,,z,\nq4,a4,,\n';

test('refused rows are listed with place, reason and excerpt, in pages', async (t) => {
  const { importSheet, rowsOf } = await openQa(t);
  const record = await importSheet(mixed);
  assert.deepEqual([record.status, record.num_chunks], ['partial', 2]);
  assert.deepEqual(record.report.rows, { total: 4, accepted: 2, rejected: 2, duplicate: 0 });
  const { body } = await rowsOf(record.record_id, '?order=asc&limit=1');
  const [row] = body.data;
  assert.deepEqual([body.fetched_count, body.has_more], [1, true]);
  const { row_id, ...rest } = row;
  assert.deepEqual(rest, {
    object: 'RecordRow',
    record_id: record.record_id,
    status: 'rejected',
    sheet: null,
    row: 3,
    column: 'A',
    code: 'empty_question',
    message: 'The question is empty.',
    excerpt: 'lost | y | =cmd|x',
  });
  const next = (await rowsOf(record.record_id, `?order=asc&after=${row_id}`)).body;
  assert.deepEqual([next.data.length, next.data[0].code, next.has_more], [1, 'empty_answer', false]);
  assert.deepEqual((await rowsOf(record.record_id, '?status=duplicate')).body.data, []);
});

test('the rows are exported as a sheet without formulas, and its corrected upload completes the import, once', async (t) => {
  const { importSheet, csvOf, pairs } = await openQa(t);
  const record = await importSheet(mixed);
  const sheet = await csvOf(record.record_id);
  assert.match(String(sheet.headers['content-type']), /^text\/csv/);
  assert.match(String(sheet.headers['content-disposition']), /^attachment; filename="rcrd\w+-rejected\.csv"$/);
  const [head = '', first = ''] = sheet.body.split('\r\n');
  assert.equal(head, '\ufeffquestion,answer,tags,note,qm:sheet,qm:row,qm:column,qm:code,qm:message');
  assert.match(first, /^,lost,y,'=cmd\|x,,3,A,empty_question,/);
  assert.equal((await csvOf(record.record_id, '*/*', '?format=csv')).body, sheet.body);

  const corrected = sheet.body.replace('\r\n,lost', '\r\nq2,lost').replace('q3,,', 'q3,a3,');
  const second = await importSheet(corrected, { on_duplicate: 'skip' });
  assert.deepEqual([second.status, second.num_chunks], ['ready', 2]);
  const complete = ['q1=a1', 'q2=lost', 'q3=a3', 'q4=a4'];
  assert.deepEqual(await pairs(), complete);

  const again = await importSheet(corrected, { on_duplicate: 'skip' });
  assert.deepEqual([again.status, again.num_chunks], ['ready', 0]);
  assert.deepEqual(again.report.rows, { total: 2, accepted: 0, rejected: 0, duplicate: 2 });
  assert.deepEqual(await pairs(), complete);
});

test('additional columns of a row are returned unchanged', async (t) => {
  const { importSheet, csvOf, call, collectionId } = await openQa(t);
  const record = await importSheet('question,answer,note\nq,,"\'-1, ""x"""\n');
  const corrected = (await csvOf(record.record_id)).body.replace('q,,', 'q,a,');
  await importSheet(corrected);
  const { data } = (await call('GET', `/v1/collections/${collectionId}/chunks`)).body;
  assert.deepEqual(data[0].metadata, { note: '\'-1, "x"' });
});

test('existing pairs are kept, skipped or replaced, as requested', async (t) => {
  const { importSheet, pairs, rowsOf, call, collectionId } = await openQa(t);
  const first = await importSheet('question,answer\nWho?,old\nOnly here?,yes\n');
  assert.equal((await importSheet('question,answer\nwho?,kept\n')).num_chunks, 1);
  assert.deepEqual(await pairs(), ['Only here?=yes', 'Who?=old', 'who?=kept']);

  const skipped = await importSheet('question,answer\n WHO?,new\nWhen?,now\n', { on_duplicate: 'skip' });
  assert.deepEqual(skipped.report.rows, { total: 2, accepted: 1, rejected: 0, duplicate: 1 });
  const [row] = (await rowsOf(skipped.record_id, '?status=duplicate')).body.data;
  assert.deepEqual([row.code, row.row, row.excerpt], ['duplicate_in_collection', 2, 'WHO? | new']);

  const replacing = await importSheet('question,answer\nwho?,1\nWho?,newest\n', { on_duplicate: 'replace' });
  assert.deepEqual(replacing.report.rows, { total: 2, accepted: 1, rejected: 0, duplicate: 1 });
  assert.deepEqual(await pairs(), ['Only here?=yes', 'When?=now', 'Who?=newest']);
  const url = `/v1/collections/${collectionId}`;
  assert.equal((await call('GET', `${url}/records/${first.record_id}`)).body.data.num_chunks, 1);
  assert.equal((await call('GET', url)).body.data.num_chunks, 3);
  const found = await call('POST', `${url}/chunks/query`, { query_text: 'old who', top_k: 10 });
  assert.deepEqual(
    found.body.data.map(({ answer }: { answer: string }) => answer),
    ['newest'],
  );
});

test('two concurrent imports that skip duplicates store each pair once', async (t) => {
  const { addSheet, call, records, settled, collectionId, pairs } = await openQa(t);
  const text = `question,answer\n${Array.from({ length: 300 }, (_, n) => `q${n},a${n}`).join('\n')}\n`;
  const created = await Promise.all(
    [1, 2].map(() => call('POST', records, { type: 'qa_sheet', file_id: addSheet(text), on_duplicate: 'skip' })),
  );
  const both = await Promise.all(created.map(({ body }) => settled(collectionId, body.data.record_id)));
  assert.deepEqual(
    both.map(({ status }) => status),
    ['ready', 'ready'],
  );
  assert.equal(both[0].num_chunks + both[1].num_chunks, 300);
  assert.equal((await pairs()).length, 100);
});

test('a sheet that contains only refused rows ends in error, and its rows can be read', async (t) => {
  const { importSheet, rowsOf, call, records } = await openQa(t);
  const record = await importSheet('question,answer\n,a\n,b\n');
  assert.deepEqual([record.status, record.error.code], ['error', 'no_rows']);
  assert.equal((await rowsOf(record.record_id)).body.fetched_count, 2);
  await call('DELETE', `${records}/${record.record_id}`);
  assert.equal((await rowsOf(record.record_id)).status, 404);
});

test('after an update, the report contains only the new sheet', async (t) => {
  const { importSheet, rowsOf, addSheet, call, records, settled, collectionId } = await openQa(t);
  const { record_id: id } = await importSheet(mixed);
  await call('POST', `${records}/${id}`, { file_id: addSheet('question,answer\nq,\nq5,a5\n') });
  assert.equal((await settled(collectionId, id)).status, 'partial');
  const { body } = await rowsOf(id);
  assert.deepEqual([body.fetched_count, body.data[0].excerpt], [1, 'q']);
});

test('rows of another project and of an unknown record are not found, and a cursor must be the id of a row', async (t) => {
  const { importSheet, records, rowsOf, createProject } = await openQa(t);
  const record = await importSheet(mixed);
  const other = createProject();
  const url = `${records}/${record.record_id}/rows`;
  assert.equal((await other.call('GET', url)).status, 404);
  assert.equal((await other.call('GET', `${url}?format=csv`)).status, 404);
  assert.equal((await rowsOf('rcrd00000000000000000000')).status, 404);
  assert.equal((await rowsOf(record.record_id, '?order=asc&after=rrow00000000000000000000')).body.fetched_count, 2);
  assert.equal((await rowsOf(record.record_id, `?after=${record.record_id}`)).status, 422);
  assert.equal((await rowsOf(record.record_id, '?status=accepted')).status, 422);
});

test('a dry run reports the result of an import and stores nothing', async (t) => {
  const { importSheet, addSheet, call, records, pairs } = await openQa(t);
  await importSheet('question,answer\nq1,have\n');
  const recordBody = { type: 'qa_sheet', file_id: addSheet(mixed), on_duplicate: 'skip' };
  const { status, body } = await call('POST', `${records}?dry_run=true`, recordBody);
  assert.equal(status, 200);
  const { data } = body;
  assert.deepEqual([data.object, data.status, data.num_chunks, data.error], ['RecordPreview', 'partial', 1, null]);
  assert.deepEqual(data.report.rows, { total: 4, accepted: 1, rejected: 2, duplicate: 1 });
  assert.deepEqual(
    data.chunks.map(({ question, answer, locator }: Record<string, unknown>) => [question, answer, locator]),
    [['q4', 'a4', { row: 5, cells: ['A5', 'B5'] }]],
  );
  assert.deepEqual(data.rows.map(({ code }: { code: string }) => code).sort(), [
    'duplicate_in_collection',
    'empty_answer',
    'empty_question',
  ]);
  assert.deepEqual(await pairs(), ['q1=have']);
  assert.equal((await call('GET', records)).body.fetched_count, 1);
  const wrong = await call('POST', `${records}?dry_run=true`, { ...recordBody, file_id: addSheet('a,b,c\n1,2,3\n') });
  assert.deepEqual([wrong.body.data.status, wrong.body.data.error.code], ['error', 'columns_not_found']);
  assert.match(wrong.body.data.error.message, /"a", "b", "c"/);
});
