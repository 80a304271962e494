import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { getHeapStatistics } from 'node:v8';
import { type Placed, pdfOf } from './documents.fixture.ts';
import type { ExtractedChunk } from './extraction.ts';
import { children, file, never, open, taskOf } from './extractor.fixture.ts';
import { makeChunks } from './make-chunks.ts';
import { openPdf, pdfiumCode } from './pdf/open-pdf.ts';
import { type PageThread, startPageThread } from './pdf/page-thread.ts';
import { readPages } from './pdf/read-pages.ts';
import { createSegmentReader } from './pdf/read-segments.ts';
import type { PageJob } from './pdf/read-share.ts';
import { readPdf } from './read-pdf.ts';

const threads: PageThread[] = [];
after(() => Promise.all(threads.map((thread) => thread.close())));

function started(): PageThread {
  const thread = startPageThread();
  threads.push(thread);
  return thread;
}

async function jobOf(bytes: Uint8Array, numPages: number, more: Partial<PageJob> = {}): Promise<PageJob> {
  const next = new Int32Array(new SharedArrayBuffer(4));
  return { bytes, numPages, next, code: await pdfiumCode(), mostMemoryBytes: Number.MAX_SAFE_INTEGER, ...more };
}

/** Pages that differ, with fonts of their own, so that the same addresses stand for different ones. */
function pageOf(page: number): Placed[] {
  const font = (['Helvetica', 'Helvetica-Bold', 'Courier'] as const)[page % 3];
  const line = (at: number) => ({
    x: 50,
    y: 700 - at * 14,
    text: `Page ${page} says in line ${at} what it has to say`,
  });
  return Array.from({ length: 40 }, (_, at) => (font === undefined ? line(at) : { ...line(at), font }));
}
const made = pdfOf(Array.from({ length: 120 }, (_, index) => pageOf(index + 1)));

/** The same without the table of its objects, which has to be built again. */
const withoutIndex = Buffer.from(made.toString('latin1').replace(/startxref\n\d+/, 'startxref\n7'), 'latin1');

test('a thread reads of each page what its caller would read', async () => {
  const thread = started();
  for (const bytes of [made, withoutIndex]) {
    const pdf = await openPdf(bytes);
    const reader = createSegmentReader(pdf);
    const expected = Array.from({ length: pdf.numPages }, (_, index) => [index, reader.read(index)]);
    pdf.close();
    assert.deepEqual(await thread.read(await jobOf(bytes, expected.length)), expected);
    // Of one document the last pages only, as if another had read the others.
    const rest = await jobOf(bytes, expected.length);
    Atomics.store(rest.next, 0, expected.length - 5);
    assert.deepEqual(await thread.read(rest), expected.slice(-5));
  }
});

test('a long document is the same however its pages are shared', async () => {
  const thread = started();
  for (const bytes of [made, withoutIndex]) {
    const alone = await readPdf(bytes);
    for (let round = 0; round < 3; round += 1) {
      const percents: number[] = [];
      const read = await readPdf(bytes, { thread, onPage: (percent) => percents.push(percent) });
      assert.deepEqual(read, alone);
      assert.deepEqual(
        percents,
        percents.toSorted((a, b) => a - b),
      );
    }
  }
});

test('short documents are not shared, nor those that would take too much memory twice', async () => {
  let asked = 0;
  const count = async () => {
    asked += 1;
    return [];
  };
  const thread: PageThread = { read: count, isThere: () => true, close: async () => {} };
  await readPdf(pdfOf(Array.from({ length: 23 }, (_, index) => pageOf(index + 1))), { thread });
  assert.equal(asked, 0);
  const pdf = await openPdf(made);
  // Never written to, so it takes no memory here.
  const large = new Uint8Array(getHeapStatistics().heap_size_limit / 4);
  await readPages(pdf, { bytes: large, onPage: () => {}, thread });
  assert.equal(asked, 0);
  await readPages(pdf, { bytes: made, onPage: () => {}, thread });
  assert.equal(asked, 1);
  pdf.close();
});

test('a thread that has taken pages and not read them leaves them to its caller', async () => {
  const alone = await readPdf(made);
  const greedy = async (job: PageJob) => {
    Atomics.add(job.next, 0, 7);
    return [];
  };
  const thread: PageThread = { read: greedy, isThere: () => true, close: async () => {} };
  assert.deepEqual(await readPdf(made, { thread }), alone);
});

test('a thread ends rather than take the last memory, and its documents are read without it', async () => {
  const thread = started();
  const waiting = [await jobOf(made, 120, { mostMemoryBytes: 1 }), await jobOf(made, 120)].map(thread.read);
  assert.deepEqual(await Promise.all(waiting), [[], []]);
  assert.equal(thread.isThere(), false);
  assert.deepEqual(await thread.read(await jobOf(made, 120)), []);
  assert.deepEqual(await readPdf(made, { thread }), await readPdf(made));
});

test('a page that is broken is told, whoever reads it', async () => {
  // The 60th page is object 124; there is no object 999.
  const broken = Buffer.from(made.toString('latin1').replace(' 124 0 R', ' 999 0 R'), 'latin1');
  const alone = await readPdf(broken);
  assert.match(alone.warnings.join(), /could not be read: 60\./);
  assert.deepEqual(await readPdf(broken, { thread: started() }), alone);
});

test('the child gives the chunks of a long document that one thread alone gives', async () => {
  const chunks: ExtractedChunk[] = [];
  const sink = {
    stage: () => {},
    chunk: (chunk: ExtractedChunk) => void chunks.push(chunk),
    reportedRow: () => undefined,
  };
  const job = {
    kind: 'text',
    format: 'pdf',
    charset: null,
    splitter: null,
    title: '',
    maxChunks: 9999,
    onDuplicate: 'keep',
  } as const;
  const report = { format: 'pdf', warnings: [], milliseconds: 0 };
  await makeChunks({ job, bytes: made, sink, report });
  const pool = open({ processes: 1 });
  for (let round = 0; round < 2; round += 1) {
    const { task, chunks: read } = taskOf(file('pdf', made));
    assert.equal((await pool.extract(task, never)).kind, 'extracted');
    assert.deepEqual(read, chunks);
  }
  const cancelled = new AbortController();
  const { task } = taskOf(file('pdf', made), { onStage: (_, percent) => percent > 10 && cancelled.abort() });
  assert.deepEqual(await pool.extract(task, cancelled.signal), { kind: 'cancelled' });
  assert.deepEqual(children(), []);
  await pool.close();
});
