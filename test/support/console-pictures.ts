import { readFile } from 'node:fs/promises';
import { settledRecord } from './client.ts';
import { handbook } from './sample-handbook.ts';
import type { StartedService } from './service.ts';

/** The ids of the objects whose pages have content. */
export interface Pictured {
  readonly collectionId: string;
  readonly recordId: string;
  readonly sheetCollectionId: string;
  readonly sheetRecordId: string;
  readonly runId: string;
}

const sheet = `question,answer
How long may books be kept?,Four weeks. Whoever needs longer asks at the desk.
When is the library open?,From nine to six; on Sundays it stays closed.
,Nobody asked this.
Is there a café?,
How long may books be kept?,Four weeks. Whoever needs longer asks at the desk.
Can I return books by post?,Yes. The parcel counts from the day it is sent.
`;

const chineseRules = `# 借阅规则

图书可以借四周，到期前可以续借一次。

# 丢失借书卡

丢失借书卡请到服务台挂失。补办一张需要五欧元，当场打印。

# 开放时间

图书馆上午九点开门，下午六点关门，星期日不开放。
`;

const runs = [
  ['calculator', 'evaluate', { expression: '5**2+8/2-3' }],
  ['calculator', 'evaluate', { expression: '1/0' }],
  ['arithmetic', 'add', { number_1: 19, number_2: 23 }],
  ['time', 'get_time_by_timezone', { timezone: 'Europe/Berlin' }],
  ['qr_code_generator', 'generate_qr_code', { text: 'https://quartermaster.example' }],
  ['calculator', 'evaluate', { expression: '(3+4)*12' }],
] as const;

/** Creates a few files, two collections and runs, like a new user after an hour. */
export async function fillForPictures(service: StartedService): Promise<Pictured> {
  const { client } = service;
  const guides = await client.collections.create({
    name: 'Handbooks',
    description: 'What people look up',
    type: 'text',
  });
  const records: string[] = [];
  const library = { name: 'library-handbook.pdf', bytes: await readFile('docs/examples/library-handbook.pdf') };
  const rules = { name: '借阅规则.md', bytes: Buffer.from(chineseRules) };
  for (const { name, bytes } of [library, ...handbook.slice(1), rules]) {
    const content = new Blob([new Uint8Array(bytes)]);
    const file = await client.files.upload(content, { purpose: 'record_file', name });
    const { record_id: id } = await client.records.create(guides.collection_id, {
      type: 'file',
      file_id: file.file_id,
    });
    records.push(id);
  }
  const questions = await client.collections.create({ name: 'Questions at the desk', type: 'qa' });
  const content = new Blob([sheet]);
  const file = await client.files.upload(content, { purpose: 'qa_record_file', name: 'desk.csv' });
  const created = await client.records.create(questions.collection_id, { type: 'qa_sheet', file_id: file.file_id });
  for (const id of records) await settledRecord(client, guides.collection_id, id);
  await settledRecord(client, questions.collection_id, created.record_id);
  await keepProfiles(service);
  let runId = '';
  for (const [bundle, plugin, input] of runs) runId = (await run(service, bundle, { plugin, input })) ?? runId;
  return {
    collectionId: guides.collection_id,
    recordId: records[0] ?? '',
    sheetCollectionId: questions.collection_id,
    sheetRecordId: created.record_id,
    runId,
  };
}

/** Stores profiles. The pictures show only their names. */
async function keepProfiles({ filesUrl, key }: StartedService): Promise<void> {
  const profiles = {
    'team-github': ['github', 'GITHUB_API_KEY'],
    weather: ['open_weather', 'OPEN_WEATHER_API_KEY'],
  } as const;
  for (const [name, [bundleId, credential]] of Object.entries(profiles)) {
    const answer = await fetch(`${filesUrl}/plugins/v1/credential_profiles`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ name, bundle_id: bundleId, credentials: { [credential]: 'not-a-real-one' } }),
    });
    if (!answer.ok) throw new Error(await answer.text());
  }
}

/** Runs a plugin. Returns the id of a successful run. */
async function run(
  { filesUrl, key }: StartedService,
  bundle: string,
  { plugin, input }: { plugin: string; input: object },
): Promise<string | undefined> {
  const answer = await fetch(`${filesUrl}/plugins/v1/execute`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ bundle_id: bundle, plugin_id: plugin, input_params: input, credentials: {} }),
  });
  const { data } = (await answer.json()) as { data?: { run_id: string } }; // the contract of the path
  return data?.run_id;
}
