import { join } from 'node:path';
import { settledRecord } from '../../test/support/client.ts';
import { startService } from '../../test/support/service.ts';
import type { PartOptions, PartReport } from '../report.ts';
import { createEndings } from '../support/endings.ts';
import type { Random } from '../support/random.ts';
import { probeHealth } from './probe-health.ts';

/** Headers that no list of names contains, so that pairs come from `columns` alone. */
const headers = ['Betreff', 'Rumpf', 'x1', 'Zahl', '__proto__', 'constructor', '"', ' ', 'Rumpf', 'İ', '0'];
const rows = 5;
const width = 6;

/** Values for one member of `columns`: mostly valid, also of wrong types, beyond the bounds and hostile names. */
function memberOf(random: Random, names: readonly string[]): unknown {
  if (random.chance(0.45)) return random.pick(names);
  if (random.chance(0.5)) return 1 + random.below(width);
  const odd = [
    0,
    -1,
    1.5,
    1025,
    2 ** 53,
    '',
    ' ',
    'a'.repeat(257),
    null,
    true,
    [],
    {},
    '\u0000',
    '\ud800',
    '__proto__',
  ];
  return random.pick(odd);
}

function columnsOf(random: Random, names: readonly string[]): unknown {
  if (random.chance(0.08)) return random.pick([[], 'question', 5, true, { question: [] }, { __proto__: null }]);
  const columns: Record<string, unknown> = {};
  for (const role of ['question', 'answer', 'id', 'tags']) {
    if (random.chance(role === 'question' || role === 'answer' ? 0.85 : 0.2)) columns[role] = memberOf(random, names);
  }
  if (random.chance(0.2)) columns.header_row = random.pick([0, 1, 2, 99, 1_048_577, '1', -1]);
  if (random.chance(0.1)) columns[random.pick(['answr', '__proto__', '']) ?? ''] = 1;
  return columns;
}

/**
 * Creates records of sheets with generated `columns`. Each request is answered as documented, each record settles, and
 * pairs appear only from a record that is `ready` or `partial`, and only with the texts of one row.
 */
export async function hostileColumns(options: PartOptions): Promise<PartReport> {
  const random = options.random.fork('columns');
  const endings = createEndings();
  const cases = options.slice ? 30 : 400;
  const outcomes = new Map<string, number>();
  const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  try {
    const service = await startService(endings, { folder: join(options.work, 'columns') });
    const { client, filesUrl, key } = service;
    const health = probeHealth(service);
    for (let index = 0; index < cases; index += 1) {
      const names = Array.from({ length: width }, () => random.pick(headers) ?? '');
      const cells = Array.from({ length: rows }, (_, row) => names.map((_name, column) => `r${row}c${column}`));
      const csv = [names, ...cells]
        .map((line) => line.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(','))
        .join('\n');
      const file = await client.files.upload(new Blob([csv]), { purpose: 'qa_record_file', name: 'sheet.csv' });
      const { collection_id } = await client.collections.create({ type: 'qa' });
      const body = { type: 'qa_sheet', file_id: file.file_id, columns: columnsOf(random, names) };
      const answer = await fetch(`${filesUrl}/v1/collections/${collection_id}/records`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const { data, error } = (await answer.json()) as { data?: { record_id: string }; error?: { code: string } };
      const shown = JSON.stringify(body.columns);
      if (data === undefined) {
        count(`${answer.status} ${error?.code}`);
        if (answer.status !== 422)
          options.findings.add('wrong error', `columns ${shown}: ${answer.status} ${error?.code}`);
        continue;
      }
      const record = await settledRecord(client, collection_id, data.record_id, AbortSignal.timeout(30_000));
      count(record.error?.code ?? record.status);
      const pairs = (await client.chunks.list(collection_id, { limit: 100 })).data;
      if (record.status === 'error' && pairs.length > 0)
        options.findings.add('wrong error', `columns ${shown}: pairs of a record in error`);
      for (const { question = '', answer: text = '' } of pairs) {
        if (question.slice(0, 2) !== text.slice(0, 2) && !names.includes(question))
          options.findings.add('wrong error', `columns ${shown}: the pair ${question} ${text} is of two rows`);
      }
    }
    const probed = await health.stop();
    if (probed.silent > 0) options.findings.add('unavailable', `${probed.silent} health probes without an answer`);
    await service.stop();
    return { name: 'Hostile columns of sheets', cases, figures: Object.fromEntries(outcomes) };
  } finally {
    await endings.end();
  }
}
