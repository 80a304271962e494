import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { afterEach, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { zipSync } from 'fflate';
import { queues } from '../../../platform/admission/queues.ts';
import { findIsolation } from '../../../platform/processes/isolation/find-isolation.ts';
import type { ExtractionSource, ExtractionTask, Extractor } from '../extraction.ts';
import { mostBatchesSent } from './protocol.ts';
import { spawnReader } from './spawn-reader.ts';
import {
  children,
  file,
  isRunning,
  never,
  onlyChild,
  onlyReader,
  open,
  readsOn,
  short,
  taskOf,
} from './testing/extractor.fixture.ts';

/** A text that takes the reader minutes: letters without a break are merged to tokens pair by pair. */
const long = file(
  'txt',
  Buffer.from(Array.from({ length: 30_000_000 }, (_, index) => 97 + (((index * index) % 8191) % 26))),
);

let extractor: Extractor | undefined;
/** Many times the time that a new process takes for a short document on this machine. */
let timeoutMs: number;

before(async () => {
  await findIsolation();
  const pool = open();
  const started = performance.now();
  await readsOn(pool);
  timeoutMs = Math.ceil(2000 + 8 * (performance.now() - started));
  await pool.close();
});

afterEach(async () => {
  await extractor?.close();
  assert.deepEqual(children(), []);
});

function opened(options?: Parameters<typeof open>[0]): Extractor {
  extractor = open(options);
  return extractor;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(10);
}

test('a document that takes too long is stopped, and the pool continues', async () => {
  const pool = opened({ processes: 1, timeoutMs });
  const outcome = await pool.extract(taskOf(long).task, never);
  assert.equal(outcome.kind === 'failed' && outcome.code, 'time_limit');
  assert.deepEqual(children(), []);
  await readsOn(pool);
});

test('the time that the server needs to store chunks does not count for the document', async () => {
  const { task } = taskOf(short, { onBatch: () => delay(timeoutMs + 100) });
  assert.equal((await opened({ timeoutMs }).extract(task, never)).kind, 'extracted');
});

test('a document that needs too much memory is stopped, and the pool continues', async () => {
  const pool = opened({ processes: 1, memoryMb: 160 });
  const outcome = await pool.extract(taskOf(long).task, never);
  assert.equal(outcome.kind === 'failed' && outcome.code, 'memory_limit', JSON.stringify(outcome));
  await readsOn(pool);
});

test('a sheet with one cell in its last corner does not crash the server', async () => {
  const cell = (at: string) =>
    `<row r="${at.replace(/\D/g, '')}"><c r="${at}" t="inlineStr"><is><t>x</t></is></c></row>`;
  const part = (path: string, xml: string) => ({ [path]: Buffer.from(xml) });
  const relationship = (id: string, target: string) =>
    `<Relationship Id="${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="${target}"/>`;
  const workbook = zipSync({
    ...part('[Content_Types].xml', '<Types/>'),
    ...part(
      'xl/workbook.xml',
      '<workbook xmlns:r="r"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
    ),
    ...part(
      'xl/_rels/workbook.xml.rels',
      `<Relationships>${relationship('r1', 'worksheets/sheet1.xml')}</Relationships>`,
    ),
    ...part(
      'xl/worksheets/sheet1.xml',
      `<worksheet><sheetData>${cell('A1')}${cell('XFD1048576')}</sheetData></worksheet>`,
    ),
  });
  const pool = opened({ processes: 1, memoryMb: 256 });
  const outcome = await pool.extract(taskOf(file('xlsx', workbook), { kind: 'qa' }).task, never);
  assert.equal(outcome.kind, 'failed', JSON.stringify(outcome));
  await readsOn(pool);
});

test('a child that dies fails its document only', async () => {
  const pool = opened({ processes: 1 });
  const { task } = taskOf(long, { onStage: () => process.kill(onlyChild(), 'SIGSEGV') });
  const outcome = await pool.extract(task, never);
  assert.equal(outcome.kind === 'failed' && outcome.code, 'parser_crashed');
  await readsOn(pool);
});

test('a killed reader is distinguished from one that crashes, also within its sandbox', async () => {
  for (const who of [onlyChild, onlyReader]) {
    const pool = opened({ processes: 1 });
    const { task } = taskOf(long, { onStage: () => process.kill(who(), 'SIGKILL') });
    const outcome = await pool.extract(task, never);
    assert.ok(outcome.kind === 'failed' && outcome.code === 'memory_limit' && outcome.killed, JSON.stringify(outcome));
    await pool.close();
  }
});

test('a cancellation ends the child immediately, and waiting documents can be cancelled too', async () => {
  const pool = opened({ processes: 1 });
  const running = new AbortController();
  const waiting = new AbortController();
  const { task } = taskOf(long, { onStage: () => running.abort() });
  const first = pool.extract(task, running.signal);
  const second = pool.extract(taskOf(short).task, waiting.signal);
  waiting.abort();
  assert.deepEqual(await second, { kind: 'cancelled' });
  assert.deepEqual(await first, { kind: 'cancelled' });
  assert.deepEqual(children(), []);
  assert.deepEqual(await pool.extract(taskOf(short).task, running.signal), { kind: 'cancelled' });
  await readsOn(pool);
});

test('an error while chunks are stored is returned, and no child remains', async () => {
  const { task } = taskOf(short, { onBatch: async () => Promise.reject(new Error('disk full')) });
  const pool = opened({ processes: 1 });
  await assert.rejects(pool.extract(task, never), /disk full/);
  assert.deepEqual(children(), []);
  await readsOn(pool);
});

test('an error of the source is returned', async () => {
  const source: ExtractionSource = {
    kind: 'file',
    extension: 'txt',
    bytes: 1,
    open: async function* () {
      yield Buffer.from('x');
      throw new Error('blob lost');
    },
  };
  await assert.rejects(opened().extract(taskOf(source).task, never), /blob lost/);
});

test('the limit waiting_documents refuses the newest of the key that waits most, never a record or another key', async () => {
  const pool = opened({ processes: 1 });
  const leaving = new AbortController();
  const started = Promise.withResolvers<void>();
  const endless = taskOf(long, {
    onStage: () => started.resolve(),
    onBatch: () => new Promise((resolve) => leaving.signal.addEventListener('abort', () => resolve())),
    keyId: 'busy',
  });
  const ask = (more: Partial<ExtractionTask> = {}) =>
    pool.extract({ ...endless.task, ...more }, leaving.signal).then(
      ({ kind }) => kind,
      ({ code }) => code,
    );
  const first = ask();
  await started.promise;
  const accepted = Array.from({ length: queues.extraction.waiting }, () => ask());
  assert.equal(await ask(), 'TOO_MANY_REQUESTS');
  const record = ask({ keyId: null, isAccepted: true });
  const other = ask({ keyId: 'other' });
  await readsOn(pool, { projectId: 'second' });
  leaving.abort();
  const ends = await Promise.all([first, ...accepted, record, other]);
  assert.deepEqual([ends.indexOf('TOO_MANY_REQUESTS'), new Set(ends).size], [accepted.length, 2]);
});

test('a process without work ends', async () => {
  await readsOn(opened({ idleMs: 50 }));
  await until(() => children().length === 0);
});

test('closing cancels running and waiting documents', async () => {
  const pool = opened({ processes: 1 });
  const started = Promise.withResolvers<void>();
  const first = pool.extract(taskOf(long, { onStage: () => started.resolve() }).task, never);
  const second = pool.extract(taskOf(short).task, never);
  await started.promise;
  await pool.close();
  assert.deepEqual([await first, await second], [{ kind: 'cancelled' }, { kind: 'cancelled' }]);
});

test('when the server is killed its children end', async () => {
  const program = `
    import { openExtractor } from ${JSON.stringify(new URL('./open-extractor.ts', import.meta.url).href)};
    import { createAdmission } from ${JSON.stringify(new URL('../../../platform/admission/admission.ts', import.meta.url).href)};
    import { createLogger } from ${JSON.stringify(new URL('../../../platform/log/logger.ts', import.meta.url).href)};
    const pool = openExtractor({ admission: createAdmission(), logger: createLogger('silent') });
    const task = { source: { kind: 'text', text: 'x' }, splitter: null, title: '', kind: 'text', maxChunks: 9, onBatch: async () => {}, onStage: () => {} };
    await pool.extract(task, new AbortController().signal);
    console.log('ready');
    setInterval(() => {}, 1000);`;
  const server = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(server.stdout, 'data');
  const [child] = children(server.pid);
  assert.ok(child !== undefined && existsSync(`/proc/${child}`));
  server.kill('SIGKILL');
  await once(server, 'close');
  await until(() => !isRunning(child));
});

test('a reader may send a few batches ahead, which are stored one at a time; one that sends more is ended', async () => {
  const program = fileURLToPath(new URL('./testing/eager-child.fixture.ts', import.meta.url));
  const pool = opened({ processes: 1, program });
  const stored = Promise.withResolvers<void>();
  let storing = 0;
  const onBatch = () => {
    storing += 1;
    return stored.promise;
  };
  const { task: greedy } = taskOf({ kind: 'text', text: String(mostBatchesSent + 1) }, { onBatch });
  const outcome = await pool.extract(greedy, AbortSignal.timeout(60_000));
  assert.equal(outcome.kind === 'failed' && outcome.code, 'parser_crashed', JSON.stringify(outcome));
  assert.equal(storing, 1);
  assert.deepEqual(children(), []);
  stored.resolve();
  const { task, chunks } = taskOf({ kind: 'text', text: String(mostBatchesSent) });
  const second = await pool.extract(task, never);
  const ordinals = Array.from({ length: mostBatchesSent }, (_, at) => at);
  assert.deepEqual([second.kind, chunks.map(({ ordinal }) => ordinal)], ['extracted', ordinals]);
});

test('a malformed batch ends the reader', async () => {
  const program = fileURLToPath(new URL('./testing/eager-child.fixture.ts', import.meta.url));
  const { task, chunks } = taskOf({ kind: 'text', text: 'forged' });
  const outcome = await opened({ processes: 1, program }).extract(task, never);
  assert.equal(outcome.kind === 'failed' && outcome.code, 'parser_crashed', JSON.stringify(outcome));
  assert.deepEqual([chunks, children()], [[], []]);
});

for (const tier of ['sandbox', 'machine'] as const) {
  test(`with the isolation of a ${tier} the process can read only its program, and reach nothing`, async () => {
    const hostile = fileURLToPath(new URL('./testing/hostile-child.fixture.ts', import.meta.url));
    const { settings } = (await findIsolation())[tier];
    assert.ok(settings !== undefined);
    const { process: child } = spawnReader({ memoryMb: 512, cpuSeconds: 60, program: hostile }, settings);
    assert.ok(child.stdout !== null && child.stderr !== null);
    child.stdout.resume();
    const gone = once(child, 'close');
    const outcomes: Record<string, string> = JSON.parse(await text(child.stderr));
    await gone;
    assert.ok(Object.keys(outcomes).length >= 11);
    for (const [attempt, outcome] of Object.entries(outcomes)) assert.match(outcome, /^denied/, attempt);
  });
}
