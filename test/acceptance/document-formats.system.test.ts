import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settledRecord } from '../support/client.ts';
import { book, openDocument, presentation, workbook } from '../support/sample-office.ts';
import { startService } from '../support/service.ts';

const mail = 'From: a@b\r\nSubject: Mail\r\nContent-Type: text/plain\r\n\r\nThe heron stands in the mail.\r\n';

/** By extension: a document whose text has the name of an animal that no other has. */
const documents: ReadonlyArray<readonly [extension: string, animal: string, content: string | Buffer]> = [
  ['xlsx', 'badger', workbook([{ name: 'Animals', rows: [['name'], ['badger']] }])],
  ['pptx', 'otter', presentation(['The otter swims'])],
  ['odt', 'ibex', openDocument('odt', '<text:p>The ibex climbs.</text:p>')],
  [
    'ods',
    'vole',
    openDocument(
      'ods',
      '<table:table table:name="Animals"><table:table-row><table:table-cell><text:p>vole</text:p></table:table-cell></table:table-row></table:table>',
    ),
  ],
  [
    'odp',
    'gecko',
    openDocument(
      'odp',
      '<draw:page><draw:frame><draw:text-box><text:p>The gecko waits.</text:p></draw:text-box></draw:frame></draw:page>',
    ),
  ],
  ['rtf', 'skunk', '{\\rtf1 The skunk leaves.\\par}'],
  ['epub', 'lynx', book('The lynx sleeps.')],
  ['eml', 'heron', mail],
  ['json', 'marten', '[{"name": "marten"}]'],
  ['jsonl', 'stoat', '{"name": "stoat"}\n'],
  ['txt', 'weasel', 'The weasel runs.'],
];

test('[formats] every format of document_file becomes a record that a question finds, and the limits list it', async (t) => {
  const { client } = await startService(t);
  const { collection_id: collectionId } = await client.collections.create({ name: 'animals' });
  const { purposes } = await client.files.limits();
  for (const [extension, animal, content] of documents) {
    assert.ok(purposes.document_file?.extensions.includes(extension), extension);
    const name = `about-${animal}.${extension}`;
    const file = await client.files.upload(new Blob([content as string]), { purpose: 'document_file', name });
    const record = await client.records.create(collectionId, { type: 'file', file_id: file.file_id });
    const settled = await settledRecord(client, collectionId, record.record_id);
    assert.equal(settled.status, 'ready', `${extension}: ${JSON.stringify(settled.error)}`);
    assert.equal(settled.report?.format, extension);
    const { data } = await client.files.list({ collection_type: 'text', name });
    assert.deepEqual(
      data.map(({ file_id }) => file_id),
      [file.file_id],
    );
  }
  for (const [, animal] of documents) {
    const [first] = await client.search(collectionId, { query_text: animal, top_k: 1 });
    assert.match(first?.content ?? '', new RegExp(animal));
  }
});

test('[formats] the purposes of the interface refuse other formats and name the purpose that accepts them', async (t) => {
  const { client } = await startService(t);
  for (const [extension, , content] of documents.filter(([name]) => name !== 'txt')) {
    for (const purpose of ['record_file', 'qa_record_file'] as const) {
      if (purpose === 'qa_record_file' && extension === 'xlsx') continue;
      const refused = client.files.upload(new Blob([content as string]), { purpose, name: `a.${extension}` });
      await assert.rejects(refused, new RegExp(`document_file allows \\.${extension}`));
    }
  }
});
