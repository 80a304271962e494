import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNewId } from '../../../platform/identifier.ts';
import { mostQuestionWords } from '../../search/analysis/question-terms.ts';
import {
  createTestFiles,
  openTestDatabase,
  openTestPostgres,
  openTestService,
} from '../testing/test-collections.suite.ts';

for (const [kind, open] of [
  ['SQLite', openTestDatabase],
  ['PostgreSQL', openTestPostgres],
] as const) {
  test(`deleted chunks of another language change no score (${kind})`, async (t) => {
    const { createProject } = await openTestService(t, { database: await open(t) });
    const { call, collection } = createProject();
    const chunks = `/v1/collections/${await collection({})}/chunks`;
    const create = async (content: string) => (await call('POST', chunks, { content })).body.data.chunk_id;
    const ask = async () => {
      const { data } = (await call('POST', `${chunks}/query`, { query_text: 'die hard', top_k: 10 })).body;
      return data.map(({ content, score }: { content: string; score: number }) => [content, score]);
    };
    await create('films to die for');
    await create('problems that are hard');
    const before = await ask();
    const german = await create('Der Hund und die Katze sind nicht in dem Haus, weil sie auf der Straße laufen.');
    assert.notDeepEqual(await ask(), before, 'in German, "die" is a stop word');
    await call('DELETE', `${chunks}/${german}`);
    assert.deepEqual(await ask(), before);
  });

  test(`the name of a file finds its record, with its extension, dots and underscores too (${kind})`, async (t) => {
    const files = createTestFiles();
    const { createProject } = await openTestService(t, { database: await open(t), files });
    const projectId = createNewId()('project');
    const { call, collection, record } = createProject(projectId);
    const id = await collection({});
    for (const name of ['zebra_handbook.v2.txt', 'opening.md', 'node.txt']) {
      const file_id = files.add(projectId, 'record_file', name, Buffer.from('Nothing about the animal.'));
      await record(id, { type: 'file', file_id });
    }
    const ask = async (query_text: string) => {
      const { data } = (await call('POST', `/v1/collections/${id}/chunks/query`, { query_text, top_k: 1 })).body;
      return data[0]?.file_name;
    };
    for (const question of ['zebra', 'zebra_handbook', 'zebra_handbook.v2.txt', 'Handbook.txt'])
      assert.equal(await ask(question), 'zebra_handbook.v2.txt', question);
    assert.equal(await ask('opening.md'), 'opening.md');
    await call('POST', `/v1/collections/${id}/chunks`, { content: 'node.js runs scripts' });
    assert.equal(await ask('node.js'), null, 'the whole name counts more than its parts');
  });

  test(`a question is searched for a bounded number of words (${kind})`, async (t) => {
    const { createProject } = await openTestService(t, { database: await open(t) });
    const { call, collection } = createProject();
    const chunks = `/v1/collections/${await collection({})}/chunks`;
    await call('POST', chunks, { content: 'alpha omega' });
    const filler = Array.from({ length: mostQuestionWords - 1 }, (_, place) => `w${place}`).join(' ');
    const ask = async (text: string) => (await call('POST', `${chunks}/query`, { query_text: text })).body.data.length;
    assert.equal(await ask(`${filler} omega`), 1, 'the last word within the bound counts');
    assert.equal(await ask(`${filler} more omega`), 0, 'words after the bound do not');
    const syllables = Array.from({ length: 16_000 }, (_, place) => String.fromCharCode(0xac00 + (place % 11_000)));
    assert.equal(await ask(syllables.join('')), 0);
  });

  test(`the pair with the exact question is found although it has no word (${kind})`, async (t) => {
    const { createProject, files } = await openTestService(t, { database: await open(t) });
    const { call, collection, record, projectId } = createProject();
    const qa = await collection({ type: 'qa' });
    const fileId = files.add(projectId, 'qa_record_file', 'signs.csv', 'question,answer\n😀👍,It is good\n+++,Three\n');
    await record(qa, { type: 'qa_sheet', file_id: fileId });
    for (const [question, answer] of [
      ['😀👍', 'It is good'],
      ['+++', 'Three'],
    ] as const) {
      const { data } = (await call('POST', `/v1/collections/${qa}/chunks/query`, { query_text: question })).body;
      assert.deepEqual(
        data.map((hit: { answer: string; score: number }) => [hit.answer, hit.score]),
        [[answer, 1]],
      );
    }
  });
}
