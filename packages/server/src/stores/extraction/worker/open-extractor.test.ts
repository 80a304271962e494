import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { afterEach, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { wordDocument, workbook } from '../../../../../../test/support/sample-office.ts';
import { arabicPdf, encryptedPdf } from '../../../../../../test/support/sample-pdf.ts';
import { csvOf, longHandbook, pairsIn } from '../../../../../../test/support/sample-texts.ts';
import type { Extractor } from '../extraction.ts';
import { mostBatchesSent } from './protocol.ts';
import { children, file, never, onlyChild, onlyReader, open, readsOn, taskOf } from './testing/extractor.fixture.ts';

let extractor: Extractor | undefined;

afterEach(async () => {
  await extractor?.close();
  assert.deepEqual(children(), []);
});

function opened(options?: Parameters<typeof open>[0]): Extractor {
  extractor = open(options);
  return extractor;
}

test('a text becomes chunks with title, tokens, words and locator', async () => {
  const { task, chunks } = taskOf({ kind: 'text', text: ' Ein Text.\n' }, { title: 'Titel' });
  const outcome = await opened().extract(task, never);
  assert.ok(outcome.kind === 'extracted');
  assert.deepEqual([outcome.numChunks, outcome.rejectedRows, outcome.report.characters], [1, 0, 11]);
  const [chunk] = chunks;
  assert.deepEqual(chunk, {
    ordinal: 0,
    content: 'Titel\n\nEin Text.',
    question: null,
    answer: null,
    numTokens: 6,
    locator: { char_start: 1, char_end: 10 },
    metadata: {},
    words: 'titel\u00811 ein\u00811 text\u00811',
  });
});

const pairs = pairsIn('zh');
for (const [extension, bytes, kind] of [
  ['pdf', arabicPdf('كتاب جديد'), 'text'],
  ['docx', wordDocument(['# Rules', 'Books are lent for four weeks.']), 'text'],
  ['html', Buffer.from('<h1>Rules</h1><p>Books are lent for four weeks.</p>'), 'text'],
  ['md', Buffer.from(longHandbook()), 'text'],
  ['csv', Buffer.from(csvOf(pairs)), 'qa'],
  ['xlsx', workbook([{ name: 'pairs', rows: [['question', 'answer'], ...pairs] }]), 'qa'],
] as const) {
  test(`a .${extension} file is read in the child, without file, network or environment`, async () => {
    const { task, chunks } = taskOf(file(extension, bytes), { kind });
    const outcome = await opened().extract(task, never);
    assert.equal(outcome.kind, 'extracted', JSON.stringify(outcome));
    assert.equal(outcome.kind === 'extracted' && outcome.numChunks, chunks.length);
    assert.deepEqual(
      chunks.map((chunk) => chunk.ordinal),
      chunks.map((_, index) => index),
    );
    const folder = `/proc/${onlyReader()}`;
    // Bubblewrap sets PWD.
    assert.match(readFileSync(`${folder}/environ`, 'utf8'), /^(PWD=\/\0)?$/);
    assert.match(readFileSync(`${folder}/limits`, 'utf8'), /Max cpu time +490 /);
    const command = readFileSync(`${folder}/cmdline`, 'utf8');
    for (const flag of ['--permission', '--no-experimental-sqlite', '--disable-sigusr1'])
      assert.ok(command.includes(flag));
    // The process drops the permission to start a thread before its first document; see extractor-limits.system.test.ts.
    assert.ok(!/--allow-(?!fs-read|worker)/.test(command));
  });
}

test('rows are kept or rejected, and both are reported', async () => {
  const { task, chunks, rows } = taskOf(file('csv', Buffer.from('question,answer,tag\nq,a,t\n,b,\n')), { kind: 'qa' });
  const outcome = await opened().extract(task, never);
  assert.ok(outcome.kind === 'extracted');
  assert.deepEqual(outcome.report.rows, { total: 2, accepted: 1, rejected: 1, duplicate: 0 });
  assert.deepEqual(
    [chunks[0]?.question, chunks[0]?.answer, chunks[0]?.metadata, chunks[0]?.locator],
    ['q', 'a', { tags: 't' }, { row: 2, cells: ['A2', 'B2'] }],
  );
  const [row] = rows;
  assert.deepEqual([rows.length, row?.row, row?.code, row?.fields.answer], [1, 3, 'empty_question', 'b']);
});

test('a document that cannot be read fails with its code, and the process continues', async () => {
  const pool = opened({ processes: 1 });
  for (const [source, kind, code] of [
    [file('txt', new Uint8Array()), 'text', 'file_empty'],
    [{ kind: 'text', text: ' \n' }, 'text', 'no_text'],
    [file('pdf', encryptedPdf('secret')), 'text', 'file_encrypted'],
    [file('csv', Buffer.from('a,b,c\n1,2,3\n')), 'qa', 'columns_not_found'],
    [file('csv', Buffer.from('question,answer\n,2\n')), 'qa', 'no_rows'],
  ] as const) {
    const outcome = await pool.extract(taskOf(source, { kind }).task, never);
    assert.deepEqual([outcome.kind, outcome.kind === 'failed' && outcome.code], ['failed', code]);
  }
  const pid = onlyChild();
  await readsOn(pool);
  assert.equal(onlyChild(), pid);
});

test('the number of chunks never exceeds the remaining capacity', async () => {
  const { task, chunks } = taskOf({ kind: 'text', text: 'word '.repeat(5000) }, { maxChunks: 3 });
  const outcome = await opened().extract(task, never);
  assert.deepEqual([outcome.kind === 'failed' && outcome.code, chunks.length], ['capacity_exceeded', 3]);
});

test('the child waits until batches are acknowledged', async () => {
  const batches: number[] = [];
  let batchesInProgress = 0;
  const { task } = taskOf(
    { kind: 'text', text: 'word '.repeat(400_000) },
    {
      splitter: { type: 'token', chunk_size: 50, chunk_overlap: 0 },
      onBatch: async (chunks) => {
        batchesInProgress += 1;
        assert.ok(batchesInProgress <= mostBatchesSent);
        batches.push(chunks.length);
        await delay(5);
        batchesInProgress -= 1;
      },
    },
  );
  assert.equal((await opened().extract(task, never)).kind, 'extracted');
  assert.ok(batches.length > 5 && batches.every((length) => length <= 1_000));
});
