import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestService } from '../testing/test-collections.suite.ts';

const sheet = 'Subject,Text,By\nOpen?,From nine,Ada\nWhere?,In the hall,Alan\n';

async function openQa(t: Parameters<typeof openTestService>[0]) {
  const service = await openTestService(t);
  const project = service.createProject();
  const collectionId = await project.collection({ type: 'qa' });
  const records = `/v1/collections/${collectionId}/records`;
  const body = {
    type: 'qa_sheet',
    file_id: service.files.add(project.projectId, 'qa_record_file', 'sheet.csv', sheet),
  };
  const create = (more: object) => project.record(collectionId, { ...body, ...more });
  const pairs = async () => {
    const { data } = (await project.call('GET', `/v1/collections/${collectionId}/chunks?limit=100&order=asc`)).body;
    return data.map(({ question, answer }: { question: string; answer: string }) => `${question}=${answer}`);
  };
  return { ...service, ...project, collectionId, records, body, create, pairs };
}

const expected = ['Open?=From nine', 'Where?=In the hall'];

test('a sheet with unknown columns imports nothing until its record gets the proposed columns', async (t) => {
  const { call, create, records, pairs, settled, collectionId } = await openQa(t);
  const record = await create({});
  assert.deepEqual([record.status, record.error.code, record.num_chunks], ['error', 'columns_not_found', 0]);
  assert.deepEqual(await pairs(), []);
  const [{ sheets, accepted_names }] = record.error.details;
  assert.deepEqual(sheets, [
    {
      sheet: null,
      found: ['Subject', 'Text', 'By'],
      header_row: 1,
      columns: { question: 'Subject', answer: 'Text' },
      samples: [
        { row: 2, question: 'Open?', answer: 'From nine' },
        { row: 3, question: 'Where?', answer: 'In the hall' },
      ],
    },
  ]);
  assert.ok(accepted_names.question.includes('frage') && accepted_names.answer.includes('答案'));
  const listed = (await call('GET', records)).body.data[0];
  assert.deepEqual(listed.error, record.error);

  const updated = await call('POST', `${records}/${record.record_id}`, { columns: sheets[0]?.columns });
  assert.equal(updated.status, 200);
  const repaired = await settled(collectionId, record.record_id);
  assert.deepEqual([repaired.status, repaired.error], ['ready', null]);
  assert.deepEqual(await pairs(), expected);

  // The columns are part of the source, so a retry uses them, and an empty object removes them.
  await call('POST', `${records}/${record.record_id}/retry`, {});
  await settled(collectionId, record.record_id);
  assert.deepEqual(await pairs(), expected);
  await call('POST', `${records}/${record.record_id}`, { columns: {} });
  const reset = await settled(collectionId, record.record_id);
  assert.equal(reset.error.code, 'columns_not_found');
  assert.deepEqual(await pairs(), expected, 'a failed import keeps the pairs of the previous one');
});

test('a dry run shows the proposal, and what the columns of the request would give', async (t) => {
  const { call, records, body, pairs } = await openQa(t);
  const dry = async (more: object) => (await call('POST', `${records}?dry_run=true`, { ...body, ...more })).body.data;
  const refused = await dry({});
  assert.deepEqual([refused.status, refused.error.code], ['error', 'columns_not_found']);
  const { columns, samples } = refused.error.details[0].sheets[0];
  assert.equal(samples.length, 2);
  const preview = await dry({ columns });
  assert.deepEqual([preview.status, preview.num_chunks], ['ready', 2]);
  assert.deepEqual(
    preview.chunks.map(({ question, answer }: Record<string, string>) => `${question}=${answer}`),
    expected,
  );
  assert.deepEqual((await call('GET', records)).body.data, []);
  assert.deepEqual(await pairs(), []);
});

test('columns of a request are checked', async (t) => {
  const { call, records, body, create } = await openQa(t);
  const answers: ReadonlyArray<readonly [object, RegExp]> = [
    [{ columns: { question: 'a', reply: 'b' } }, /reply/],
    [{ columns: { question: 0 } }, /body\/columns\/question/],
    [{ columns: { question: 1025 } }, /body\/columns\/question/],
    [{ columns: { question: '' } }, /body\/columns\/question/],
    [{ columns: { question: 'a'.repeat(257) } }, /body\/columns\/question/],
    [{ columns: { header_row: -1 } }, /body\/columns\/header_row/],
    [{ columns: { question: 'a', answer: 'a' } }, /body\/columns\/answer/],
    [{ columns: 'question' }, /body\/columns/],
    [{ columns: {}, type: 'text', content: 'text' }, /body\/columns .*type "text"/],
  ];
  for (const [more, message] of answers) {
    const { status, body: answer } = await call('POST', records, { ...body, ...more });
    assert.deepEqual([status, answer.error.code], [422, 'REQUEST_VALIDATION_ERROR'], JSON.stringify(more));
    assert.match(answer.error.message, message);
  }
  // The official client sends null for what its caller leaves out.
  assert.equal((await create({ columns: null })).error.code, 'columns_not_found');
});
