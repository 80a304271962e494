import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccepted, assertRefused, json, limitedService } from '../support/limits.ts';
import { readPng } from '../support/png.ts';
import { textPdf } from '../support/sample-pdf.ts';

const limited = limitedService();
const invalid = { status: 422, code: 'REQUEST_VALIDATION_ERROR' };
let collection = '';

/** Returns the URL of the collection that all tests share. */
async function openCollection(): Promise<string> {
  if (collection !== '') return collection;
  const { body } = await limited.send(`${limited.service.filesUrl}/v1/collections`, json({}));
  collection = `${limited.service.filesUrl}/v1/collections/${body.data.collection_id}`;
  return collection;
}

interface Case {
  readonly path: string;
  /** Returns a body whose limited value has this size. */
  readonly body: (size: number) => object;
}

/** Checks that the cases accept a value of this size and refuse a larger one. */
async function checkBodies(most: number, cases: readonly Case[]): Promise<void> {
  const url = await openCollection();
  for (const { path, body } of cases) {
    assertAccepted(await limited.send(url + path, json(body(most))));
    assertRefused(invalid, await limited.send(url + path, json(body(most + 1))));
  }
}

const text = (length: number) => 'word '.repeat(length / 5 + 1).slice(0, length);
const entries = (count: number, value: unknown = 'x') =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`e${String(index).padStart(2, '0')}`, value]));
const query = (filters: object) => ({ query_text: 'word', filters });
const equal = (value: string) => ({ type: 'eq', key: 'a', value });

/** The requests that accept metadata. */
const withMetadata = (metadata: (size: number) => object): Case[] => [
  { path: '', body: (size) => ({ metadata: metadata(size) }) },
  { path: '/records', body: (size) => ({ type: 'text', content: 'x', metadata: metadata(size) }) },
  { path: '/chunks', body: (size) => ({ content: 'x', metadata: metadata(size) }) },
];

test('the limit content_characters accepts a chunk and a record of exactly its length and refuses one character more', async () => {
  const body = (length: number) => ({ content: text(length) });
  await checkBodies(65_535, [
    { path: '/chunks', body },
    { path: '/records', body },
  ]);
});

test('the limit query_characters accepts a question of exactly its length and refuses one character more', async () => {
  await checkBodies(32_768, [{ path: '/chunks/query', body: (length) => ({ query_text: text(length) }) }]);
});

test('the limit page_picture_width accepts exactly this width and refuses one pixel more', async () => {
  const { client, filesUrl } = limited.service;
  const collectionId = (await openCollection()).split('/').at(-1) ?? '';
  const file = await client.files.upload(new Blob([new Uint8Array(textPdf([['x']]))]), {
    purpose: 'record_file',
    name: 'x.pdf',
  });
  const record = await client.records.create(collectionId, { type: 'file', file_id: file.file_id }).wait();
  const row = { value: 2400, ...invalid };
  const page = `${filesUrl}/v1/collections/${collectionId}/records/${record.record_id}/pages/1/picture`;
  const picture = await client.records.pagePicture(collectionId, record.record_id, 1, { width: row.value });
  // A page of 600 × 800 points with this width would have more pixels than a picture may have.
  const { width, height } = readPng(Buffer.from(await picture.arrayBuffer()));
  assert.ok(width < row.value && width * height <= 4_000_000);
  assertRefused(row, await limited.send(`${page}?width=${row.value + 1}`));
});

test('the limit record_text_characters accepts exactly as many characters of a text and refuses one more', async () => {
  const url = await openCollection();
  const { body } = await limited.send(`${url}/records`, json({ content: 'x' }));
  const row = { value: 100_000, ...invalid };
  const read = (most: number) => limited.send(`${url}/records/${body.data.record_id}/text?max_characters=${most}`);
  assertAccepted(await read(row.value));
  assertRefused(row, await read(row.value + 1));
});

test('the limit question_results accepts exactly as many chunks in an answer and refuses one more', async () => {
  await checkBodies(100, [{ path: '/chunks/query', body: (count) => ({ query_text: 'word', top_k: count }) }]);
});

test('the limit question_neighbours accepts exactly as many neighbours and refuses one more', async () => {
  await checkBodies(5, [{ path: '/chunks/query', body: (expand) => ({ query_text: 'word', expand }) }]);
});

test('the limit question_collections accepts a question to exactly as many collections and refuses one more', async () => {
  const row = { value: 20, ...invalid };
  const own = (await openCollection()).split('/').at(-1);
  const ask = (count: number) =>
    limited.send(
      `${limited.service.filesUrl}/v1/chunks/query`,
      json({ query_text: 'word', collection_ids: Array.from({ length: count }, () => own) }),
    );
  assertAccepted(await ask(row.value));
  assertRefused(row, await ask(row.value + 1));
});

test('the limit title_characters accepts a title of exactly its length and refuses one character more', async () => {
  await checkBodies(255, [{ path: '/records', body: (length) => ({ content: 'x', title: 't'.repeat(length) }) }]);
});

test('the limit metadata_entries accepts exactly as many entries and refuses one more', async () => {
  await checkBodies(16, withMetadata(entries));
});

test('the limit metadata_name_characters accepts a name of exactly its length and refuses one character more', async () => {
  await checkBodies(
    64,
    withMetadata((length) => ({ ['n'.repeat(length)]: 'x' })),
  );
});

test('the limit metadata_text_characters accepts a value of exactly its length and refuses one character more', async () => {
  await checkBodies(512, [
    { path: '/records', body: (length) => ({ content: 'x', metadata: { a: 'v'.repeat(length) } }) },
  ]);
});

test('the limit metadata_bytes accepts metadata of exactly its size and refuses one byte more', async () => {
  const ofBytes = (bytes: number) => ({ a: 'v'.repeat(bytes - '{"a":""}'.length) });
  const [ofCollection, , ofChunk] = withMetadata(ofBytes);
  await checkBodies(
    16_384,
    [ofCollection, ofChunk].filter((one) => one !== undefined),
  );
  // The values of a record's metadata are short texts, so characters outside of ASCII fill the bytes.
  const ofRecord = (bytes: number) => {
    const fixed = JSON.stringify(entries(16, '')).length;
    const metadata = entries(16, '中'.repeat(340)) as Record<string, string>;
    const remaining = bytes - fixed - 15 * 340 * 3;
    metadata.e15 = '中'.repeat(Math.floor(remaining / 3)) + 'x'.repeat(remaining % 3);
    return { content: 'x', metadata };
  };
  await checkBodies(16_384, [{ path: '/records', body: ofRecord }]);
});

test('the limit filter_conditions accepts exactly as many conditions in a group and refuses one more', async () => {
  const group = (count: number) => ({ type: 'and', filters: Array.from({ length: count }, () => equal('x')) });
  await checkBodies(16, [
    { path: '/chunks/query', body: (count) => query(group(count)) },
    { path: '/chunks/query', body: (count) => query({ type: 'or', filters: [group(count)] }) },
  ]);
});

test('the limit filter_values accepts exactly as many values and refuses one more', async () => {
  const values = (count: number) => ({ type: 'in', key: 'a', value: Array.from({ length: count }, (_, n) => n) });
  await checkBodies(100, [{ path: '/chunks/query', body: (count) => query(values(count)) }]);
});

test('the limit filter_total_values accepts exactly as many values in all conditions and refuses one more', async () => {
  const group = (count: number) => ({
    type: 'or',
    filters: Array.from({ length: Math.ceil(count / 100) }, (_, list) => ({
      type: 'in',
      key: 'a',
      value: Array.from({ length: Math.min(100, count - 100 * list) }, (__, n) => 100 * list + n),
    })),
  });
  await checkBodies(512, [
    { path: '/chunks/query', body: (count) => query(group(count)) },
    { path: '/chunks/query', body: (count) => query({ type: 'and', filters: [group(count)] }) },
  ]);
});

test('the limit filter_text_characters accepts a value of exactly its length and refuses one character more', async () => {
  await checkBodies(512, [{ path: '/chunks/query', body: (length) => query(equal('v'.repeat(length))) }]);
});

test('the limit separator_count accepts exactly as many separators and refuses one more', async () => {
  const splitter = (count: number) => ({
    type: 'separator',
    separators: Array.from({ length: count }, (_, n) => String.fromCharCode(0x61 + n)),
  });
  await checkBodies(16, [{ path: '/records', body: (count) => ({ content: 'x', text_splitter: splitter(count) }) }]);
});
