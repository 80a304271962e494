import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../support/service.ts';

interface Answer {
  readonly data: Record<string, string>;
  readonly warnings?: readonly string[];
  readonly error?: { readonly code: string; readonly message: string };
}

async function open(t: Parameters<typeof startService>[0]) {
  const service = await startService(t);
  const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' };
  const send = async (path: string, body: unknown, status = 200, url = service.filesUrl) => {
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    const answer = (await response.json()) as Answer;
    assert.equal(response.status, status, `${path}: ${JSON.stringify(answer)}`);
    return answer;
  };
  const upload = async (fields: Readonly<Record<string, string>>, key?: string) => {
    const form = new FormData();
    form.append('file', new Blob(['Green tea']), 'tea.txt');
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    const more = key === undefined ? {} : { 'idempotency-key': key };
    const init = { method: 'POST', headers: { authorization: headers.authorization, ...more }, body: form };
    const response = await fetch(`${service.filesUrl}/v1/files`, init);
    const answer = (await response.json()) as Answer;
    assert.equal(response.status, 200, JSON.stringify(answer));
    return answer;
  };
  return { ...service, send, upload };
}

const namesIn = ({ warnings = [] }: Answer) =>
  warnings.map((each) => /^Unknown member ("[^"]*") was ignored/.exec(each)?.[1]);

test('[unknown-members] every call with a body names the unknown members that it ignored', async (t) => {
  const { send, pluginsUrl } = await open(t);
  const collection = await send('/v1/collections', { name: 'tea', colour: 1, colours: [] });
  assert.deepEqual(namesIn(collection), ['"colour"', '"colours"']);
  const ofCollection = `/v1/collections/${collection.data.collection_id}`;
  const record = await send(`${ofCollection}/records`, { type: 'text', content: 'Green tea', colums: { question: 1 } });
  assert.match(
    record.warnings?.[0] ?? '',
    /^Unknown member "colums" was ignored\. Did you mean "columns"\? Allowed: type, /,
  );
  const chunk = await send(`${ofCollection}/chunks`, { content: 'Black tea', odd: 1 });
  const run = { bundle_id: 'calculator', plugin_id: 'evaluate', input_params: { expression: '1+1' }, credentials: {} };
  const answers: readonly [string, Answer][] = [
    ['dry run', await send(`${ofCollection}/records?dry_run=true`, { type: 'text', content: 'tea', odd: 1 })],
    ['chunk', chunk],
    ['chunk update', await send(`${ofCollection}/chunks/${chunk.data.chunk_id}`, { content: 'White tea', odd: 1 })],
    ['record update', await send(`${ofCollection}/records/${record.data.record_id}`, { title: 'Tea', odd: 1 })],
    ['collection update', await send(ofCollection, { name: 'teas', odd: 1 })],
    ['question', await send(`${ofCollection}/chunks/query`, { query_text: 'tea', odd: 1 })],
    [
      'question to collections',
      await send('/v1/chunks/query', { query_text: 'tea', collection_ids: [collection.data.collection_id], odd: 1 }),
    ],
    ['execution', await send('/v1/execute', { ...run, odd: 1, project_id: 'p' }, 200, pluginsUrl)],
  ];
  for (const [call, answer] of answers) assert.deepEqual(namesIn(answer), ['"odd"'], call);
  const usual = await send(`${ofCollection}/chunks/query`, { query_text: 'tea', rerank_model_id: null, odd: null });
  assert.equal('warnings' in usual, false, 'a null means absent');
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`m${index}`.padEnd(99, 'x'), 1]));
  const { warnings = [] } = await send('/v1/collections', many);
  assert.deepEqual([warnings.length, warnings[20]], [21, '30 more unknown members were ignored.']);
  assert.ok(!warnings.join('').includes('x'.repeat(61)), 'long names are cut');
});

test('[unknown-members] an upload names the unknown fields of its form, also when it is repeated', async (t) => {
  const { upload } = await open(t);
  const fields = { purpose: 'record_file', module: 'retrieval', file_name: 'tea.txt' };
  const first = await upload(fields, 'once');
  assert.deepEqual(namesIn(first), ['"module"', '"file_name"']);
  assert.deepEqual(await upload(fields, 'once'), first);
  assert.equal('warnings' in (await upload({ purpose: 'record_file' })), false);
});

test('[unknown-members] unknown members of our own objects are refused, those of `text_splitter` are not', async (t) => {
  const { send } = await open(t);
  const { data } = await send('/v1/collections', { type: 'qa' });
  const records = `/v1/collections/${data.collection_id}/records`;
  const query = `/v1/collections/${data.collection_id}/chunks/query`;
  const wrong: readonly [string, object, RegExp][] = [
    [
      records,
      { type: 'qa_sheet', file_id: 'f', columns: { question: 1, answr: 2 } },
      /Unknown parameter "answr"\. Allowed: question, answer, id, tags, header_row, include_hidden\./,
    ],
    ['/v1/collections', { retrieval: { mode: 'words', odd: 1 } }, /Unknown parameter "odd"/],
    [query, { query_text: 'tea', weights: { words: 1, vectors: 1, odd: 1 } }, /Unknown parameter "odd"/],
    [query, { query_text: 'tea', filters: { type: 'eq', field: 'a', value: 1, odd: 1 } }, /Unknown parameter "odd"/],
  ];
  for (const [path, body, message] of wrong) {
    const { error } = await send(path, body, 422);
    assert.equal(error?.code, 'REQUEST_VALIDATION_ERROR');
    assert.match(error?.message ?? '', message);
  }
  const text = await send('/v1/collections', {});
  const text_splitter = { type: 'token', chunk_size: 100, chunk_overlap: 10, odd: 1 };
  const split = { type: 'text', content: 'Green tea', text_splitter };
  assert.equal('warnings' in (await send(`/v1/collections/${text.data.collection_id}/records`, split)), false);
});
