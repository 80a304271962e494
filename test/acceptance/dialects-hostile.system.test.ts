import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { DifyError, DifyRecords, LoadedDocument, LoaderError } from '@quartermaster/contract';
import { createRandom, type Random } from '../bundles/generate-input.ts';
import { settledRecord } from '../support/client.ts';
import { wordDocument, workbook } from '../support/sample-office.ts';
import { textPdf } from '../support/sample-pdf.ts';
import { startService } from '../support/service.ts';

const pick = <Item>(items: readonly Item[], random: Random): Item => {
  const item = items[random.next(items.length)];
  assert.ok(item !== undefined);
  return item;
};

let deep: unknown = 'x';
for (let depth = 0; depth < 40; depth += 1) deep = [deep];

const hostileValues: readonly unknown[] = [
  ...[null, true, -1, 0, 1e308, 0.5, 2 ** 53, '', ' ', '\0', 'a\0b', '\ud800', '%', "x' or '1'='1", '__proto__'],
  ...['x'.repeat(513), [], [[]], [null], {}, { type: 'or' }, { __proto__: 1 }, deep, ['en', 5], '\u202e', '🏛️'],
];

/** Replaces, adds or removes one member at a random place. */
function mutate(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random.next(4) === 0) return pick(hostileValues, random);
  const copy = structuredClone(value) as Record<string, unknown>; // arrays have members too
  const names = Object.keys(copy);
  const name = names.length === 0 ? 'more' : pick(names, random);
  if (random.next(6) === 0) delete copy[name];
  else copy[name] = mutate(copy[name], random);
  return copy;
}

const operators = ['contains', 'not contains', 'start with', 'end with', 'is', 'in', 'empty', '≠', '>', 'before'];

test('[dialects] 400 malformed questions from Dify get responses in its format, and none is an internal error', async (t) => {
  const service = await startService(t, { settings: { LOG_LEVEL: 'warn' } });
  const { collection_id: knowledge_id } = await service.client.collections.create({ name: 'library' });
  const metadata = { lang: 'en', year: '2024' };
  const { record_id } = await service.client.records.create(knowledge_id, {
    type: 'text',
    content: 'otters',
    metadata,
  });
  await settledRecord(service.client, knowledge_id, record_id);
  const random = createRandom(20261123);
  const statuses = new Map<number, number>();
  for (let count = 0; count < 400; count += 1) {
    const names = pick(['lang', ['lang', 'year'], 'absent'], random);
    const condition = { name: names, comparison_operator: pick(operators, random), value: 'en' };
    const damagesCondition = random.next(2) === 0;
    const conditions = [damagesCondition ? mutate(condition, random) : condition];
    const question = {
      ...{ knowledge_id, query: 'otters', retrieval_setting: { top_k: 3, score_threshold: 0 } },
      metadata_condition: { logical_operator: 'or', conditions },
    };
    const sent = JSON.stringify(damagesCondition ? question : mutate(question, random));
    const answer = await fetch(`${service.filesUrl}/dify/retrieval`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' },
      body: sent,
    });
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    const body = (await answer.json()) as DifyRecords & DifyError; // the form of the dialect
    if (answer.status === 200) {
      assert.ok(body.records.every(({ metadata: entries }) => typeof entries === 'object' && entries !== null));
      continue;
    }
    assert.ok([400, 404, 413, 422].includes(answer.status), `${answer.status} for ${sent}`);
    assert.deepEqual(Object.keys(body).sort(), ['code', 'error_code', 'error_msg', 'request_id']);
    assert.ok(Number.isInteger(body.error_code) && body.error_msg !== '');
  }
  assert.ok((statuses.get(200) ?? 0) > 20 && (statuses.get(422) ?? 0) > 100, JSON.stringify([...statuses]));
  await service.stop();
  assert.doesNotMatch(service.log(), /request failed/);
});

const pair = ['question', 'answer'];
const documents: ReadonlyArray<readonly [extension: string, content: Buffer]> = [
  ['pdf', textPdf([['Otters swim.'], ['Badgers dig.']])],
  ['docx', wordDocument(['Otters swim.', 'Badgers dig.'])],
  ['xlsx', workbook([{ name: 'Animals', rows: [pair, ['Otters?', 'Swim.']] }])],
  ['html', Buffer.from('<html><body><h1>Otters</h1><table><tr><td>swim</td></tr></table></body></html>')],
  ['csv', Buffer.from('question,answer\nOtters?,"They swim."\n')],
  ['md', Buffer.from('# Otters\n\n* swim\n')],
];

function damage(content: Buffer, random: Random): Buffer<ArrayBuffer> {
  const copy = Buffer.from(content);
  for (let count = random.next(8); count > 0; count -= 1) copy[random.next(copy.length)] = random.next(256);
  const cut = random.next(3) === 0 ? copy.subarray(0, random.next(copy.length)) : copy;
  return random.next(6) === 0 ? Buffer.concat([cut, cut]) : Buffer.from(cut);
}

const names = ['../../etc/passwd', 'a\0b', 'C:\\x', '.', '..', 'ü 🏛️', '\u202egpj', 'x'.repeat(300), '%00', '"; rm', ''];

test('[dialects] 150 damaged documents from Open WebUI are read or refused in its error format, and the service continues', async (t) => {
  const service = await startService(t, { settings: { LOG_LEVEL: 'warn' } });
  const put = (name: string, body: Buffer<ArrayBuffer>) =>
    fetch(`${service.filesUrl}/openwebui/process`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${service.key}`, 'X-Filename': encodeURIComponent(name) },
      body,
    });
  const random = createRandom(20261124);
  const statuses = new Map<number, number>();
  for (let count = 0; count < 150; count += 1) {
    const [extension, content] = pick(documents, random);
    const name = `${pick(names, random)}.${random.next(10) === 0 ? 'txt' : extension}`;
    const answer = await put(name, damage(content, random));
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    const body = (await answer.json()) as LoadedDocument[] & LoaderError; // the form of the dialect
    if (answer.status === 200) {
      assert.ok(body.length > 0 && body.every(({ page_content: text }) => typeof text === 'string' && text !== ''));
      assert.ok(body.every(({ metadata }) => metadata.source === name));
      assert.ok(body.every(({ metadata }) => Object.values(metadata).every((value) => typeof value !== 'object')));
      continue;
    }
    assert.ok([413, 415, 422].includes(answer.status), `${answer.status} ${JSON.stringify(body)}`);
    assert.ok(body.detail.length > 0 && !body.detail.includes(service.folder), body.detail);
  }
  assert.ok((statuses.get(200) ?? 0) > 20 && (statuses.get(422) ?? 0) > 20, JSON.stringify([...statuses]));
  assert.equal((await put('a.md', Buffer.from('# Otters'))).status, 200);
  assert.deepEqual(await readdir(join(service.folder, 'staging')), []);
  await service.stop();
  assert.doesNotMatch(service.log(), /request failed/);
});
