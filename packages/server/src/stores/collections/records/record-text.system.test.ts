import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { workbook } from '../../../../../../test/support/sample-office.ts';
import { textPdf } from '../../../../../../test/support/sample-pdf.ts';
import type { Database } from '../../../storage/database/database.ts';
import {
  createTestFiles,
  openTestDatabase,
  openTestPostgres,
  openTestService,
} from '../testing/test-collections.suite.ts';

const paragraphs = Array.from({ length: 90 }, (_, at) => `Paragraph ${at} says 🦊 foxes sleep in den ${at * 7}.`);
const rows = Array.from({ length: 60 }, (_, at) => `| fox ${at} | den ${at} sleeps ${at * 3} hours in winter |`);
const markdown = ['# Foxes', ...paragraphs, '| name | den |\n| --- | --- |', ...rows]
  .join('\n\n')
  .replaceAll('|\n\n|', '|\n|');

for (const open of [openTestDatabase, openTestPostgres]) {
  const database = open === openTestDatabase ? 'SQLite' : 'PostgreSQL';
  test(`the text of every chunk is at its offsets in the extracted text, in ${database}`, async (t) => {
    const { sources, readAll, chunksOf } = await openProject(t, open);
    for (const { name, recordId, prefix } of await sources()) {
      const text = await readAll(recordId, 997);
      const chunks = await chunksOf(recordId);
      assert.ok(chunks.length > 3, name);
      for (const { content, locator } of chunks) {
        const own = text.slice(locator.char_start, locator.char_end);
        assert.ok(content.startsWith(prefix) && own !== '' && content.endsWith(own), `${name}: ${content}`);
        // What precedes the text is the title, and for a part of a table its heading and its header.
        assert.match(content.slice(prefix.length, content.length - own.length), /^(?:Foxes\nname \| den\n)?$/);
      }
      // Nothing but white space and separators lies between chunks.
      assert.equal(await readAll(recordId, 100_000), text, name);
    }
  });

  test(`a changed and a deleted chunk leave a gap in the extracted text, in ${database}`, async (t) => {
    const { call, chunks: url, sources, readAll, read, chunksOf } = await openProject(t, open);
    const [source] = await sources();
    assert.ok(source);
    const before = await readAll(source.recordId, 5_000);
    const all = await chunksOf(source.recordId);
    const [changed, deleted] = [all[1], all[3]];
    assert.ok(changed && deleted);
    const answer = await call('POST', `${url}/${changed.chunk_id}`, { content: 'Bears.' });
    assert.equal(answer.body.data.locator.char_start, undefined);
    assert.deepEqual((await call('GET', `${url}/${changed.chunk_id}`)).body, answer.body);
    await call('DELETE', `${url}/${deleted.chunk_id}`, {});
    const after = await readAll(source.recordId, 5_000);
    assert.equal(after.length, before.length);
    for (const { chunk_id: id, locator } of all) {
      const [then, now] = [before, after].map((text) => text.slice(locator.char_start, locator.char_end));
      if (id === changed.chunk_id || id === deleted.chunk_id) assert.equal(now?.trim(), '');
      else assert.equal(now, then);
    }
    const { gaps } = await read(source.recordId, `max_characters=100000`);
    for (const { locator } of [changed, deleted])
      assert.ok(gaps.some((gap: Range) => gap.char_start <= locator.char_start && gap.char_end >= locator.char_end));
  });

  test(`a part of the extracted text never ends within a character, in ${database}`, async (t) => {
    const { sources, read } = await openProject(t, open);
    const [source] = await sources();
    assert.ok(source);
    const start = (await read(source.recordId, 'max_characters=1000')).text.indexOf('🦊');
    const first = await read(source.recordId, `char_start=${start - 1}&max_characters=2`);
    assert.deepEqual([first.text, first.char_end], [' ', start]);
    const second = await read(source.recordId, `char_start=${start + 1}&max_characters=3`);
    assert.deepEqual([second.text, second.char_start], [' f', start + 2]);
    const last = await read(source.recordId, 'char_start=9007199254740990');
    assert.deepEqual([last.text, last.has_more, last.gaps], ['', false, []]);
  });

  test(`a sheet and a record of another project have no extracted text, in ${database}`, async (t) => {
    const { call, collection, record, files, projectId, createProject, sources } = await openProject(t, open);
    const rows = [
      ['question', 'answer'],
      ['q', 'a'],
    ];
    const file_id = files.add(projectId, 'qa_record_file', 'a.xlsx', workbook([{ name: 'A', rows }]));
    const ofPairs = await collection({ type: 'qa' });
    const sheet = await record(ofPairs, { type: 'qa_sheet', file_id });
    const refused = await call('GET', `/v1/collections/${ofPairs}/records/${sheet.record_id}/text`);
    assert.deepEqual([refused.status, refused.body.error.code], [404, 'OBJECT_NOT_FOUND']);
    const [source] = await sources();
    const foreign = await createProject().call('GET', source?.url ?? '');
    assert.deepEqual([foreign.status, foreign.body.error.code], [404, 'OBJECT_NOT_FOUND']);
  });
}

interface Range {
  readonly char_start: number;
  readonly char_end: number;
}

interface Passage {
  readonly chunk_id: string;
  readonly content: string;
  readonly locator: Range;
}

async function openProject(t: TestContext, open: (t: TestContext) => Promise<Database>) {
  const files = createTestFiles();
  const service = await openTestService(t, { database: await open(t), files });
  const project = service.createProject();
  const { call, record, projectId } = project;
  const collectionId = await project.collection();
  const records = `/v1/collections/${collectionId}/records`;

  async function read(recordId: string, query: string) {
    const { status, body } = await call('GET', `${records}/${recordId}/text?${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body.data;
  }

  async function readAll(recordId: string, most: number): Promise<string> {
    let text = '';
    for (let more = true; more; ) {
      const part = await read(recordId, `char_start=${text.length}&max_characters=${most}`);
      assert.deepEqual([part.char_start, part.char_end], [text.length, text.length + part.text.length]);
      text += part.text;
      assert.equal(part.has_more, text.length < part.num_characters);
      more = part.has_more;
    }
    return text;
  }

  async function chunksOf(recordId: string): Promise<Passage[]> {
    return (await call('GET', `${records}/${recordId}/chunks?order=asc&limit=100`)).body.data;
  }

  /** Documents of several formats and splitters. */
  async function sources() {
    const add = (name: string, bytes: string | Buffer) => files.add(projectId, 'record_file', name, bytes);
    const pdf = textPdf(
      [paragraphs.slice(0, 40), paragraphs.slice(40)].map((page) => page.map((line) => line.replace('🦊 ', ''))),
    );
    const created = [
      { name: 'structure', prefix: '', body: { type: 'file', file_id: add('a.md', markdown) } },
      {
        name: 'title',
        prefix: 'Fo🦊xes\n\n',
        body: { type: 'file', title: 'Fo🦊xes', file_id: add('b.md', markdown) },
      },
      { name: 'pdf', prefix: '', body: { type: 'file', file_id: add('c.pdf', pdf) } },
      {
        name: 'overlap',
        prefix: '',
        body: { content: paragraphs.join('\n'), text_splitter: { type: 'token', chunk_size: 100, chunk_overlap: 40 } },
      },
      {
        name: 'separators',
        prefix: '',
        body: { content: paragraphs.join(' ### '), text_splitter: { type: 'separator', separators: [' ### '] } },
      },
    ];
    const records: Array<{ name: string; recordId: string; prefix: string; url: string }> = [];
    for (const { name, prefix, body } of created) {
      const { record_id: recordId, status } = await record(collectionId, body);
      assert.equal(status, 'ready', name);
      const url = `/v1/collections/${collectionId}/records/${recordId}/text`;
      records.push({ name, recordId, prefix, url });
    }
    return records;
  }

  const chunks = `/v1/collections/${collectionId}/chunks`;
  return { ...project, createProject: service.createProject, files, chunks, read, readAll, chunksOf, sources };
}
