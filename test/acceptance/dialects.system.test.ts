import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { DifyError, DifyRecords, LoadedDocument, LoaderError } from '@quartermaster/contract';
import { settledRecord } from '../support/client.ts';
import { blocksRunBy } from '../support/documented-blocks.ts';
import { assertAccepted, assertRefused, limitedService } from '../support/limits.ts';
import { workbook } from '../support/sample-office.ts';
import { textPdf } from '../support/sample-pdf.ts';
import { type StartedService, startService } from '../support/service.ts';

const limited = limitedService();

interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** Sends a request and reads the response as JSON. */
async function send<Body>(path: string, init: RequestInit, key: string | null = limited.service.key) {
  const headers = { ...(key === null ? {} : { Authorization: `Bearer ${key}` }), ...init.headers };
  const answer = await fetch(limited.service.filesUrl + path, { ...init, headers });
  const body = (await answer.json()) as Body; // the form of the dialect
  return { status: answer.status, headers: answer.headers, body } satisfies Answer<Body>;
}

/** Asks like Dify. */
const retrieve = <Body = DifyRecords & DifyError>(body: object, key?: string | null) =>
  send<Body>(
    '/dify/retrieval',
    { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) },
    key,
  );

/** Sends a document like Open WebUI. */
const load = <Body = LoadedDocument[] & LoaderError>(
  name: string,
  content: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
  key?: string | null,
) =>
  send<Body>(
    '/openwebui/process',
    // As bytes, because `fetch` adds a type to a string.
    { method: 'PUT', headers: { 'X-Filename': encodeURIComponent(name), ...headers }, body: Buffer.from(content) },
    key,
  );

let library: Promise<string> | undefined;

/** Returns the collection that all tests share: three texts, a file and their metadata. */
function openLibrary(): Promise<string> {
  library ??= (async () => {
    const { client } = limited.service;
    const { collection_id: id } = await client.collections.create({ name: 'library' });
    const texts = [
      ['Hours', 'The library opens at nine.', { lang: 'en', year: '2024' }],
      ['Zeiten', 'Die library öffnet um neun.', { lang: 'de', year: '2025' }],
      ['Horaires', 'La library ouvre à neuf heures.', { lang: 'fr', year: '2026', day: '2026-05-01' }],
    ] as const;
    for (const [title, content, metadata] of texts) {
      const record = await client.records.create(id, { type: 'text', title, content, metadata });
      await settledRecord(client, id, record.record_id);
    }
    const content = new Blob(['# Parking\n\nCars park behind.']);
    const file = await client.files.upload(content, { name: 'parking.md' });
    const record = await client.records.create(id, { type: 'file', file_id: file.file_id });
    await settledRecord(client, id, record.record_id);
    return id;
  })();
  return library;
}

async function ask(conditions: unknown, more: object = {}) {
  const question = {
    knowledge_id: await openLibrary(),
    query: 'library',
    retrieval_setting: { top_k: 10, score_threshold: 0 },
  };
  return retrieve({ ...question, metadata_condition: { logical_operator: 'and', conditions, ...more } });
}
const titles = ({ body }: { body: DifyRecords }) => body.records.map(({ title }) => title).sort();

test('[dialects] Dify finds the chunks of a collection, each with a score, a title and an object of metadata', async () => {
  const knowledge_id = await openLibrary();
  const answer = await retrieve({
    knowledge_id,
    query: 'Where do cars park?',
    retrieval_setting: { top_k: 2, score_threshold: 0.0 },
  });
  assert.equal(answer.status, 200);
  assert.deepEqual(Object.keys(answer.body), ['records']);
  const [best] = answer.body.records;
  assert.equal(best?.content.includes('Cars park behind.'), true);
  assert.equal(best?.title, 'parking.md');
  assert.ok((best?.score ?? 2) > 0 && (best?.score ?? 2) <= 1);
  const { document_id, chunk_id, ...others } = best?.metadata ?? {};
  assert.match(`${document_id} ${chunk_id}`, /^rcrd\w{20} chnk\w{20}$/);
  assert.deepEqual(others, { path: 'parking.md', heading: 'Parking' });

  const native = await limited.service.client.search(knowledge_id, { query_text: 'library' });
  for (const setting of [{ top_k: null, score_threshold: null }, null, undefined]) {
    const { body } = await retrieve({
      knowledge_id,
      query: 'library',
      retrieval_setting: setting,
      metadata_condition: null,
    });
    assert.deepEqual(
      body.records.map(({ content }) => content),
      native.map(({ content }) => content),
    );
  }
  assert.deepEqual((await retrieve({ knowledge_id, query: 'xylophone' })).body, { records: [] });
  const high = { top_k: 4, score_threshold: 1 };
  assert.deepEqual((await retrieve({ knowledge_id, query: 'library cars', retrieval_setting: high })).body, {
    records: [],
  });
});

test('[dialects] the threshold that Dify proposes keeps the right chunk of a small collection', async () => {
  const knowledge_id = await openLibrary();
  const question = { knowledge_id, query: 'Where is it possible to park one of these cars during the day?' };
  const native = await limited.service.client.search(knowledge_id, { query_text: question.query, top_k: 4 });
  assert.ok((native[0]?.score ?? 1) < 0.5, 'a threshold of 0.5 would exclude the native score');
  const answer = await retrieve({ ...question, retrieval_setting: { top_k: 4, score_threshold: 0.5 } });
  assert.equal(answer.body.records[0]?.title, 'parking.md');
  const { body } = await retrieve({ ...question, retrieval_setting: { top_k: 4, score_threshold: 0 } });
  assert.deepEqual(
    body.records.map(({ content }) => content),
    native.map(({ content }) => content),
    'the order stays',
  );
  const [best, ...others] = body.records.map(({ score }) => score);
  assert.equal(best, 0.5 + (native[0]?.score ?? 0) / 2);
  assert.ok(others.every((score) => score <= (best ?? 0)));
});

test('[dialects] a title in a response to Dify has no control characters and no overrides of the text direction', async () => {
  const { client } = limited.service;
  const { collection_id: knowledge_id } = await client.collections.create({ name: 'titles' });
  const title = 'invoice\u202efdp.txt\u001b[2J';
  const { record_id } = await client.records.create(knowledge_id, { type: 'text', title, content: 'Three books.' });
  await settledRecord(client, knowledge_id, record_id);
  const { body } = await retrieve({ knowledge_id, query: 'books' });
  assert.deepEqual(
    body.records.map((record) => record.title),
    ['invoice\ufffdfdp.txt\ufffd[2J'],
  );
});

const all = ['Horaires', 'Hours', 'Zeiten'];
const conditions: ReadonlyArray<readonly [operator: string, name: string | string[], value: unknown, found: string[]]> =
  [
    ['is', 'lang', 'en', ['Hours']],
    ['is', ['code', 'lang'], 'en', ['Hours']],
    ['is not', 'lang', 'en', ['Horaires', 'Zeiten']],
    ['in', 'lang', ['en', 'de'], ['Hours', 'Zeiten']],
    ['in', 'lang', 'en, de', ['Hours', 'Zeiten']],
    ['not in', 'lang', ['en', 'de'], ['Horaires']],
    ['=', 'year', 2025, ['Zeiten']],
    ['=', 'year', '2025', ['Zeiten']],
    ['≠', 'year', 2025, ['Horaires', 'Hours']],
    ['>', 'year', 2024, ['Horaires', 'Zeiten']],
    ['<', 'year', '2025', ['Hours']],
    ['≥', 'year', 2025, ['Horaires', 'Zeiten']],
    ['≤', 'year', 2025, ['Hours', 'Zeiten']],
    ['>', 'year', '999', ['Horaires', 'Hours', 'Zeiten']],
    ['contains', 'lang', 'e', ['Hours', 'Zeiten']],
    ['contains', 'year', 202, ['Horaires', 'Hours', 'Zeiten']],
    ['not contains', 'lang', 'e', ['Horaires']],
    ['start with', 'day', '2026-', ['Horaires']],
    ['end with', 'day', '-01', ['Horaires']],
    ['empty', 'day', undefined, ['Hours', 'Zeiten']],
    ['not empty', 'day', null, ['Horaires']],
    ['after', 'day', '2026-01-01', ['Horaires']],
    ['before', 'day', '2026-01-01', []],
    ['after', 'day', '2026-05-01T00:00:00Z', []],
    ['after', 'year', '2025', ['Horaires']],
    ['after', 'lang', '2020-01-01', []],
  ];

for (const [comparison_operator, name, value, found] of conditions) {
  test(`[dialects] the condition of Dify ${name} ${comparison_operator} ${value} selects the same chunks as a filter`, async () => {
    assert.deepEqual(titles(await ask([{ name, comparison_operator, value }])), found);
  });
}

test('[dialects] conditions of Dify are combined with and or or, and a request without conditions selects everything', async () => {
  const two = ['en', 'de'].map((value) => ({ name: 'lang', comparison_operator: 'is', value }));
  assert.deepEqual(titles(await ask(two)), []);
  assert.deepEqual(titles(await ask(two, { logical_operator: 'or' })), ['Hours', 'Zeiten']);
  for (const none of [[], null, undefined]) assert.deepEqual(titles(await ask(none, { logical_operator: null })), all);
});

test('[dialects] an invalid request from Dify is refused in its error format, with the field and a request id', async () => {
  const knowledge_id = await openLibrary();
  const condition = (one: object) => ({ knowledge_id, query: 'a', metadata_condition: { conditions: [one] } });
  const refused: ReadonlyArray<readonly [body: object, field: RegExp]> = [
    [{ knowledge_id }, /body\/query/],
    [{ knowledge_id, query: '' }, /body\/query/],
    [{ knowledge_id, query: 7 }, /body\/query/],
    [{ query: 'a' }, /body\/knowledge_id/],
    [{ knowledge_id, query: 'a', retrieval_setting: { top_k: 1_000_000 } }, /top_k/],
    [{ knowledge_id, query: 'a', retrieval_setting: { top_k: 0 } }, /top_k/],
    [{ knowledge_id, query: 'a', retrieval_setting: { score_threshold: 1.5 } }, /score_threshold/],
    [condition({ name: 'a', comparison_operator: 'resembles', value: 'x' }), /comparison_operator/],
    [condition({ name: 'a', comparison_operator: 'contains', value: '' }), /conditions\/0\/value/],
    [condition({ name: 'a', comparison_operator: 'start with' }), /conditions\/0\/value/],
    [condition({ name: 'a', comparison_operator: 'is' }), /conditions\/0\/value/],
    [condition({ name: 'a', comparison_operator: '>', value: ['1'] }), /conditions\/0\/value/],
    [condition({ name: 'a', comparison_operator: 'in', value: ' , ' }), /conditions\/0\/value/],
    [condition({ name: 'a', comparison_operator: 'before', value: 'x' }), /conditions\/0\/value.*an ISO 8601 date/],
    [condition({ name: 'a', comparison_operator: 'after', value: '2026-13-01' }), /conditions\/0\/value/],
    [
      {
        knowledge_id,
        query: 'a',
        metadata_condition: {
          conditions: Array.from({ length: 17 }, () => ({ name: 'a', comparison_operator: 'is', value: 'x' })),
        },
      },
      /conditions/,
    ],
  ];
  for (const [body, field] of refused) {
    const answer = await retrieve(body);
    assert.deepEqual(
      [answer.status, answer.body.error_code, answer.body.code],
      [422, 422, 'REQUEST_VALIDATION_ERROR'],
      JSON.stringify(body),
    );
    assert.match(answer.body.error_msg, field);
    assert.equal(answer.body.request_id, answer.headers.get('x-request-id'));
  }
  const huge = await retrieve({ knowledge_id, query: 'a'.repeat(2_000_000) });
  assert.deepEqual([huge.status, huge.body.error_code, huge.body.code], [413, 413, 'FILE_TOO_LARGE']);
  const broken = await send<DifyError>('/dify/retrieval', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"query":',
  });
  assert.deepEqual([broken.status, broken.body.error_code], [400, 400]);
});

test('[dialects] an unknown path or method below a dialect is refused in the form of the dialect', async () => {
  const paths = ['/dify', '/dify/', '/dify/retrieval/x', '/dify/other'];
  for (const path of paths) {
    const { status, body, headers } = await send<DifyError>(path, { method: 'POST' });
    assert.deepEqual([status, body.error_code, body.code], [404, 2001, 'OBJECT_NOT_FOUND'], path);
    assert.equal(body.request_id, headers.get('x-request-id'));
  }
  const dify = await send<DifyError>('/dify/retrieval', { method: 'GET' });
  assert.deepEqual([dify.status, dify.body.error_code, dify.headers.get('allow')], [405, 405, 'POST']);
  const loader = await send<LoaderError>('/openwebui/process', { method: 'POST' });
  assert.deepEqual([loader.status, loader.body.code, loader.headers.get('allow')], [405, 'METHOD_NOT_ALLOWED', 'PUT']);
  assert.match(loader.body.detail, /POST is not allowed here/);
  const { status, body } = await send<LoaderError>('/openwebui/ünknown', { method: 'PUT' });
  assert.deepEqual([status, body.code], [404, 'OBJECT_NOT_FOUND']);
});

test('[dialects] source code is read as text, also when its media type is that of a video', async () => {
  for (const [name, type] of [
    ['main.ts', 'video/mp2t'],
    ['main.RS', 'application/octet-stream'],
  ] as const) {
    const { status, body } = await load(name, 'const answer = 42;', { 'Content-Type': type });
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body[0]?.page_content, 'const answer = 42;');
  }
  assert.equal((await load('film.mp4', 'x', { 'Content-Type': 'video/mp4' })).status, 415);
});

test('[dialects] the test request of Dify without a body succeeds with a valid key and gets 403 with any other', async () => {
  const probe = (key: string | null) => send<DifyError>('/dify/retrieval', { method: 'POST' }, key);
  assert.ok(![403, 404, 502].includes((await probe(limited.service.key)).status));
  for (const key of [null, 'nonsense', `${limited.service.key.slice(0, -4)}0000`]) {
    const { status, body } = await probe(key);
    assert.deepEqual([status, body.error_code, body.code], [403, 1002, 'APIKEY_VALIDATION_FAILED'], String(key));
  }
});

test('[dialects] Open WebUI gets one item for each page of a PDF, and pages are numbered from 0', async () => {
  // Each page has other words, because text that many pages share counts as a running head.
  const word = (at: number) => [...String(at * 7919)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
  const pages = Array.from({ length: 30 }, (_, at) => [`${word(at + 1)} ${word(at + 40)} ${word(at + 80)}.`]);
  const { status, body } = await load('bericht ü.pdf', new Uint8Array(textPdf(pages)), {
    'Content-Type': 'application/pdf',
  });
  assert.equal(status, 200);
  assert.deepEqual(
    body.map(({ page_content: text }) => text),
    pages.flat(),
  );
  assert.deepEqual(body[4]?.metadata, {
    source: 'bericht ü.pdf',
    mime_type: 'application/pdf',
    page: 4,
    page_label: '5',
  });
});

test('[dialects] Open WebUI gets the whole text of a document without pages, and one item for each sheet', async () => {
  const markdown = await load('a%2Fb.md', '# One\n\nFirst.\n\n## Two\n\nSecond.\n');
  assert.deepEqual(markdown.body, [
    { page_content: 'One\n\nFirst.\n\nTwo\n\nSecond.', metadata: { source: 'a%2Fb.md' } },
  ]);
  const sheet = await load('towns.csv', 'town,people,note\nParis,2,"big,\nold"\n\nRome,3,\n');
  assert.deepEqual(sheet.body, [
    { page_content: 'town | people | note\nParis | 2 | big, old\nRome | 3 |', metadata: { source: 'towns.csv' } },
  ]);
  const single = await load('names.csv', 'name\napple\n');
  assert.equal(single.body[0]?.page_content, 'name\napple');
  const wide = Array.from({ length: 3_000 }, (_, row) => `${row},${'word '.repeat(40)}`);
  const { body: rows } = await load('wide.csv', `id,text\n${wide.join('\n')}\n`);
  assert.equal(rows[0]?.page_content.split('\n').length, 3_001, 'every row has its line');
  const sheets = workbook([
    {
      name: 'Animals',
      rows: [
        ['question', 'answer'],
        ['Dogs?', 'Yes.'],
      ],
    },
    {
      name: 'Plants',
      rows: [
        ['question', 'answer'],
        ['Ferns?', 'No.'],
      ],
    },
  ]);
  const book = await load('faq.xlsx', new Uint8Array(sheets));
  assert.deepEqual(
    book.body.map(({ page_content: text, metadata }) => [text, metadata]),
    [
      ['Animals\nquestion | answer\nDogs? | Yes.', { source: 'faq.xlsx', sheet: 'Animals' }],
      ['Plants\nquestion | answer\nFerns? | No.', { source: 'faq.xlsx', sheet: 'Plants' }],
    ],
  );
  const long = `${'A sentence of many. '.repeat(2_000)}End.`;
  assert.equal((await load('long.txt', long)).body[0]?.page_content.replace(/\s+/g, ' '), long);
});

test('[dialects] the format of a document follows from its name, and otherwise from its type', async () => {
  const bare = (headers: Record<string, string>) =>
    send<LoadedDocument[]>('/openwebui/process', { method: 'PUT', headers, body: new Blob(['{"a": 1}']) });
  for (const [type, text] of [
    ['text/plain; charset=utf-8', '{"a": 1}'],
    ['text/x-python', '{"a": 1}'],
    ['application/json', 'a: 1'],
  ] as const) {
    const { status, body } = await bare({ 'Content-Type': type });
    assert.deepEqual([status, body[0]?.page_content, body[0]?.metadata.source], [200, text, ''], type);
  }
  assert.equal((await load('a.HTM', '<p>Text</p>')).body[0]?.page_content, 'Text');
  for (const [name, type] of [
    ['a.exe', 'application/octet-stream'],
    ['', ''],
    ['__proto__', ''],
    ['a.constructor', 'toString'],
  ] as const) {
    const { status, body } = await load(name, 'MZ', type === '' ? {} : { 'Content-Type': type });
    assert.deepEqual([status, body.code], [415, 'UNSUPPORTED_MEDIA_TYPE'], name);
  }
});

test('[dialects] the error for an unreadable document names the reason, and that for one without text uses the words that Open WebUI recognises', async () => {
  const empty = await load('a.txt', new Uint8Array(0));
  const scan = await load('scan.pdf', new Uint8Array(textPdf([[]])));
  for (const [{ status, body, headers }, reason] of [
    [empty, 'file_empty'],
    [scan, 'no_text'],
  ] as const) {
    assert.deepEqual([status, body.code, body.reason], [422, 'REQUEST_VALIDATION_ERROR', reason]);
    assert.match(body.detail, /^No extractable text/);
    assert.equal(body.request_id, headers.get('x-request-id'));
  }
  const damaged = await load('a.pdf', '%PDF-1.7 nothing');
  assert.deepEqual([damaged.status, damaged.body.reason], [422, 'file_damaged']);
  const name = await send<LoaderError>('/openwebui/process', {
    method: 'PUT',
    headers: { 'X-Filename': '%ff.txt' },
    body: 'a',
  });
  assert.deepEqual([name.status, name.body.code], [422, 'REQUEST_VALIDATION_ERROR']);
  const encoded = await load('a.txt', 'a', { 'Content-Encoding': 'gzip' });
  assert.deepEqual([encoded.status, encoded.body.code], [415, 'UNSUPPORTED_MEDIA_TYPE']);
});

for (const dialect of ['dify', 'open-webui']) {
  test(`[dialects] the request in the guide ${dialect} works as printed`, async () => {
    const COLLECTION_ID = await openLibrary();
    const { filesUrl, key: QM_API_KEY } = limited.service;
    const [block] = blocksRunBy(import.meta.filename, `docs/guides/${dialect}.md`);
    const command = block?.text ?? assert.fail('the page has no request');
    const env = { PATH: process.env.PATH ?? '', QM_API_KEY, COLLECTION_ID };
    const sent = command.replaceAll('http://127.0.0.1:8080', filesUrl);
    const { stdout } = await promisify(execFile)('sh', ['-c', sent], { env });
    assert.match(stdout, dialect === 'dify' ? /^\{"records":\[\{"content":/ : /^\[\{"page_content":"Hours/);
  });
}

/** Returns the number of staged and stored blobs. */
async function countBlobs({ folder }: StartedService): Promise<number> {
  const entries = await readdir(folder, { recursive: true });
  return entries.filter((entry) => /blob\w{20}/.test(entry)).length;
}

/** Sends documents like Open WebUI. A stream is sent without a length. */
function documentSender({ filesUrl, key }: StartedService) {
  return (body: RequestInit['body'] & {}, name = 'a.txt', signal: AbortSignal | null = null) =>
    fetch(`${filesUrl}/openwebui/process`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${key}`, 'X-Filename': name, 'X-OpenWebUI-User-Email': 'ada@example.com' },
      body,
      signal,
      ...(body instanceof ReadableStream ? { duplex: 'half' as const } : {}),
    });
}

test('[dialects] documents from Open WebUI count as uploads of their project, and concurrent requests each get their own text', async (t) => {
  const service = await startService(t, { settings: { MAX_UPLOADS_IN_FLIGHT: '2' } });
  const put = documentSender(service);
  const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => put(`text ${at}`)));
  const statuses = answers.map(({ status }) => status);
  assert.deepEqual([...new Set(statuses)].sort(), [200, 429], statuses.join());
  for (const [at, answer] of answers.entries()) {
    const body = (await answer.json()) as LoadedDocument[]; // the form of the dialect
    if (answer.status === 200) assert.equal(body[0]?.page_content, `text ${at}`);
    else assert.ok(answer.headers.get('retry-after'));
  }
  const metrics = await fetch(`${service.filesUrl}/metrics`, { headers: { Authorization: `Bearer ${service.key}` } });
  assert.match(await metrics.text(), /quartermaster_documents_loaded_total\{outcome="extracted"\} \d/);
});

test('[dialects] documents from Open WebUI leave nothing behind except log lines without their names and texts', async (t) => {
  const service = await startService(t, { settings: { MAX_UPLOADS_IN_FLIGHT: '1', MAX_FILE_BYTES: '1000000' } });
  const put = documentSender(service);
  const text = 'A sentence about otters. '.repeat(20_000);
  assert.equal((await put(text, 'otters.txt')).status, 200);
  assert.equal((await put(text, 'otters.pdf')).status, 422);
  assert.equal((await put('x'.repeat(1_000_001))).status, 413);
  const parts = (count: number) =>
    ReadableStream.from(Array.from({ length: count }, () => Buffer.alloc(100_000, 'x ')));
  assert.equal((await put(parts(11))).status, 413, 'without a length');
  const cut = new AbortController();
  async function* cutShort() {
    yield Buffer.alloc(600_000, 'x ');
    cut.abort();
    yield Buffer.alloc(1, 'x');
  }
  await assert.rejects(put(ReadableStream.from(cutShort()), 'otters.txt', cut.signal), { name: 'AbortError' });
  // The place is free again as soon as the service has noticed.
  while ((await put('free again')).status !== 200);
  assert.equal(await countBlobs(service), 0);
  assert.equal((await service.client.files.list()).data.length, 0);

  await service.stop();
  const log = service.log();
  const lines = log.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  const loaded = lines.filter(({ msg }) => msg === 'document loaded');
  assert.deepEqual(
    loaded.slice(0, 2).map(({ extension, bytes, outcome }) => [extension, bytes, outcome]),
    [
      ['txt', 500_000, 'extracted'],
      ['pdf', 500_000, 'file_type_mismatch'],
    ],
  );
  const answered = lines.filter(({ msg, route }) => msg === 'request completed' && route === '/openwebui/process');
  assert.ok(loaded.every(({ request_id: id }) => answered.some(({ request_id: other }) => id === other)));
  assert.ok(answered.every(({ project, key }) => /^proj/.test(project) && /^apik/.test(key)));
  assert.doesNotMatch(log, /otters|ada@example/);
});

test('the limit loaded_document_characters accepts a text of exactly its length and refuses one character more', async () => {
  const row = { value: 8_000_000, status: 413, code: 'FILE_TOO_LARGE' };
  const body = (length: number) =>
    'word '
      .repeat(length / 5 + 1)
      .slice(0, length - 1)
      .concat('x');
  const sent = async (length: number) => {
    const { status, body: answer } = await load('a.txt', body(length));
    return { status, code: answer.code, message: answer.detail };
  };
  assertRefused(row, await sent(row.value + 100_000));
});

test('the limit loaded_document_blocks accepts a document of exactly as many paragraphs and refuses one more', async () => {
  const row = { value: 100_000, status: 413, code: 'FILE_TOO_LARGE' };
  const sent = async (count: number) => {
    const { status, body } = await load('a.txt', 'x\n\n'.repeat(count));
    return { status, code: body.code, message: body.detail };
  };
  assertAccepted(await sent(row.value));
  assertRefused(row, await sent(row.value + 1));
});
