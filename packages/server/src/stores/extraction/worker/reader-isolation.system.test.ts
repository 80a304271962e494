import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, Socket } from 'node:net';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { wordDocument, workbook } from '../../../../../../test/support/sample-office.ts';
import { keptPlaces } from '../../../platform/admission/admission-queue.ts';
import { createLogger } from '../../../platform/log/logger.ts';
import { findIsolation } from '../../../platform/processes/isolation/find-isolation.ts';
import { channelDescriptor, type SpawnSettings } from '../../../platform/processes/isolation/spawn-isolated.ts';
import { superviseProcess } from '../../../platform/processes/supervised-process.ts';
import { temporaryFolder } from '../../../platform/testing/temporary-folder.ts';
import { createReadableCopy } from '../../../tools/execution/sandbox/testing/readable-copy.suite.ts';
import { findReaderIsolation } from './reader-isolation.ts';
import { spawnReader } from './spawn-reader.ts';
import { children, file, never, onlyReader, open, readsOn, short, taskOf } from './testing/extractor.fixture.ts';

const isRoot = process.getuid?.() === 0;
/**
 * The settings of a root that cannot give its children a separate user, for example because other users cannot read the
 * installation.
 */
const withoutUser: SpawnSettings = { user: undefined, hasUtilLinux: true, isSandboxed: false };

async function settingsOf(tier: 'sandbox' | 'process'): Promise<SpawnSettings> {
  const found = (await findIsolation())[tier === 'sandbox' ? 'sandbox' : 'machine'].settings;
  assert.ok(found !== undefined, `this machine has a ${tier}`);
  return found;
}

interface Status {
  readonly uid: number;
  readonly capabilities: readonly string[];
  readonly noNewPrivileges: string;
  readonly filter: string;
  readonly hasOwnNetwork: boolean;
}

function statusOf(pid: number): Status {
  const lines = readFileSync(`/proc/${pid}/status`, 'utf8');
  const value = (name: string): string => new RegExp(`^${name}:\\s+(\\w+)`, 'm').exec(lines)?.[1] ?? '';
  return {
    uid: Number(value('Uid')),
    capabilities: ['CapInh', 'CapPrm', 'CapEff', 'CapAmb'].map(value),
    noNewPrivileges: value('NoNewPrivs'),
    filter: value('Seccomp'),
    hasOwnNetwork: readlinkSync(`/proc/${pid}/ns/net`) !== readlinkSync('/proc/self/ns/net'),
  };
}

const none = Array.from({ length: 4 }, () => '0'.repeat(16));

test('a reader has a separate user, no capability, no new privileges and, in a sandbox, no network', async () => {
  for (const tier of ['sandbox', 'process'] as const) {
    const settings = await settingsOf(tier);
    const pool = open({ processes: 1, isolation: async () => settings });
    await readsOn(pool);
    const { uid, ...status } = statusOf(onlyReader());
    await pool.close();
    const isSandboxed = tier === 'sandbox';
    const filter = isSandboxed ? '2' : '0';
    assert.deepEqual(status, { capabilities: none, noNewPrivileges: '1', filter, hasOwnNetwork: isSandboxed }, tier);
    if (isRoot && settings.user === 'own') assert.ok(uid >= 1_900_000_000, `${tier}: ${uid}`);
  }
});

const documents = [
  [file('docx', wordDocument(['Books are lent for four weeks.'])), 'text', 'Books are lent for four weeks.'],
  [
    file(
      'xlsx',
      workbook([
        {
          name: 'pairs',
          rows: [
            ['question', 'answer'],
            ['How long?', 'Four weeks.'],
          ],
        },
      ]),
    ),
    'qa',
    'How long?',
  ],
] as const;

for (const tier of ['sandbox', 'process'] as const) {
  test(`${tier}: a reader may read every file of its program that Word documents and workbooks need`, async (t) => {
    const settings = await settingsOf(tier);
    const pool = open({ processes: 1, isolation: async () => settings });
    t.after(() => pool.close());
    for (const [source, kind, content] of documents) {
      const { task, chunks } = taskOf(source, { kind });
      const outcome = await pool.extract(task, never);
      assert.equal(outcome.kind, 'extracted', JSON.stringify(outcome));
      assert.deepEqual(
        chunks.map((chunk) => chunk.question ?? chunk.content),
        [content],
      );
    }
  });
}

test('a reader of root without a separate user has no capability of root', async () => {
  const pool = open({ processes: 1, isolation: async () => withoutUser });
  await readsOn(pool);
  const { uid, capabilities, noNewPrivileges } = statusOf(onlyReader());
  await pool.close();
  assert.deepEqual([uid, capabilities, noNewPrivileges], [process.getuid?.(), none, '1']);
});

test('the service uses the sandbox for readers, and reports it once', async () => {
  const log: string[] = [];
  const settings = await findReaderIsolation(createLogger('info', { write: (line) => void log.push(line) }));
  assert.equal(settings.isSandboxed, true);
  assert.equal(log.length, 1);
  assert.match(log.join(), /"tier":"sandbox".*document reader isolation selected/);
});

/** Creates the data folder of a service, closed to other users, with files that no reader may see. */
async function openWorld(t: TestContext) {
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, 'blobs'));
  const files = {
    'the database': join(folder, 'quartermaster.db'),
    'the encryption key': join(folder, 'encryption-key'),
    'a document of another project': join(folder, 'blobs', 'other'),
  };
  for (const path of Object.values(files)) await writeFile(path, 'canary', { mode: 0o600 });
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { files, folder, port: address.port, server: process.pid };
}

async function openToUnguarded(t: TestContext, settings: SpawnSettings): Promise<readonly string[]> {
  const program = fileURLToPath(new URL('./testing/unguarded-child.fixture.ts', import.meta.url));
  const plan = { memoryMb: 256, cpuSeconds: 60, program, isUnrestricted: true };
  const { process: child } = spawnReader(plan, settings);
  const channel = child.stdio[channelDescriptor];
  assert.ok(channel instanceof Socket && child.stdout !== null && child.stderr !== null);
  channel.write(`${JSON.stringify(await openWorld(t))}\n`);
  const [output, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  assert.ok(output.startsWith('['), stderr);
  return JSON.parse(output);
}

test('in a sandbox the kernel alone restricts a reader to its program', async (t) => {
  assert.deepEqual(await openToUnguarded(t, await settingsOf('sandbox')), []);
});

test('without a sandbox a separate user prevents a reader of root from reaching the data folder and the server', async (t) => {
  const settings = await settingsOf('process');
  const reached = await openToUnguarded(t, settings);
  // The kernel separates users, not the programs of one user.
  if (settings.user === undefined) return assert.ok(reached.includes('read the database'));
  assert.deepEqual(reached, ['read a file of the system', 'connect to a server of this machine', 'start a program']);
});

/** The part of a service that reads documents, run as an ordinary user. */
const service = (url: (path: string) => string, tier: string): string => `
  import { createAdmission } from ${url('platform/admission/admission.ts')};
  import { createLogger } from ${url('platform/log/logger.ts')};
  import { findIsolation } from ${url('platform/processes/isolation/find-isolation.ts')};
  import { openExtractor } from ${url('stores/extraction/worker/open-extractor.ts')};
  const { machine, sandbox } = await findIsolation();
  const isolation = async () => ${tier === 'sandbox' ? 'sandbox' : 'machine'}.settings;
  const pool = openExtractor({ processes: 1, isolation, admission: createAdmission(), logger: createLogger('silent') });
  const task = { projectId: 'a', source: { kind: 'text', text: 'x' }, splitter: null, title: '', kind: 'text',
    maxChunks: 9, onBatch: async () => {}, onStage: () => {} };
  const { kind } = await pool.extract(task, new AbortController().signal);
  console.log(JSON.stringify({ kind, uid: process.getuid() }));
  process.stdin.on('end', () => pool.close()).resume();`;

for (const tier of ['sandbox', 'process'] as const) {
  test(`${tier}: a reader of an ordinary user has no capability and no new privileges`, async (t) => {
    const sources = ['extraction', 'processes', 'stores/search/analysis'];
    const { node, url } = await createReadableCopy(t, { sources, packages: libraries });
    const ordinary = isRoot ? { uid: 1000, gid: 1000 } : {};
    const args = ['--input-type=module', '--eval', service(url, tier)];
    const child = spawn(node, args, { env: {}, cwd: '/', stdio: ['pipe', 'pipe', 'inherit'], ...ordinary });
    const [output] = await once(child.stdout, 'data');
    const { kind, uid } = JSON.parse(String(output));
    const [outer = 0] = children(child.pid);
    const status = statusOf(children(outer)[0] ?? outer);
    const ended = once(child, 'close');
    child.stdin.end();
    await ended;
    const isSandboxed = tier === 'sandbox';
    const filter = isSandboxed ? '2' : '0';
    const expected = { uid, capabilities: none, noNewPrivileges: '1', filter, hasOwnNetwork: isSandboxed };
    assert.deepEqual([kind, status], ['extracted', expected]);
  });
}
/** The packages that a reader loads. */
const libraries = [
  ...['gpt-tokenizer', 'htmlparser2', 'marked', '@hyzyla/pdfium', 'iconv-lite', 'yauzl', 'pend'],
  ...['@jsquash/webp', 'postal-mime', '@orama/stemmers', 'wink-porter2-stemmer'],
];

test('a reader that is ended while it starts leaves no process', async () => {
  const isolation = await settingsOf('sandbox');
  const ignore = { onFrame: () => {}, maxFrameBytes: () => 0, onFrameTooLong: () => {} };
  for (let ms = 0; ms < 30; ms++) {
    const child = superviseProcess(spawnReader({ memoryMb: 256, cpuSeconds: 60 }, isolation), ignore);
    await delay(ms);
    child.kill();
    await child.exited;
  }
  assert.deepEqual(children(), []);
});

test('a process that has read for one project never reads for another', async () => {
  const pool = open({ processes: 2 });
  const readFor = async (projectId: string): Promise<number[]> => {
    const { task } = taskOf(short, { projectId });
    assert.equal((await pool.extract(task, never)).kind, 'extracted');
    return children();
  };
  try {
    for (const projectId of ['a', 'b', 'c']) await readFor(projectId);
    const [first, second, third, fourth] = await readFor('d');
    assert.deepEqual(await readFor('a'), [first, second, third, fourth], 'the process of the project is used again');
    const [reused, kept, last, fifth] = await readFor('e');
    assert.deepEqual([reused, kept, last], [first, third, fourth], 'the process that was idle longest was stopped');
    assert.ok(fifth !== undefined && fifth !== second);
    assert.deepEqual(await readFor('e'), [first, third, fourth, fifth]);
  } finally {
    await pool.close();
  }
});

test('a document that takes a second of processor time yields the processors', async () => {
  const pool = open({ processes: 1 });
  const stop = new AbortController();
  const long = { kind: 'text', text: 'A sentence of several words.\n\n'.repeat(1_000_000) } as const;
  const reading = pool.extract(taskOf(long).task, stop.signal);
  try {
    const lowered = Math.min(getPriority() + 10, 19);
    const priority = () => (children().length === 1 ? getPriority(onlyReader()) : undefined);
    for (let tries = 0; tries < 600 && priority() !== lowered; tries++) await delay(50);
    assert.equal(priority(), lowered);
    if (existsSync('/proc/self/autogroup')) {
      assert.match(readFileSync(`/proc/${onlyReader()}/autogroup`, 'utf8'), new RegExp(` nice ${lowered}\\n$`));
    }
  } finally {
    stop.abort();
    await reading;
    await pool.close();
  }
});

test('concurrent documents of many projects never have more processes than the limit and the kept places', async () => {
  const pool = open({ processes: 2 });
  let most = 0;
  const onBatch = async () => {
    most = Math.max(most, children().length);
  };
  const projects = ['a', 'b', 'c', 'a', 'b', 'c', 'd'];
  const tasks = projects.map((projectId) => pool.extract(taskOf(short, { projectId, onBatch }).task, never));
  const outcomes = await Promise.all(tasks);
  await pool.close();
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    projects.map(() => 'extracted'),
  );
  assert.ok(most >= 2 && most <= 2 + keptPlaces, `${most} processes`);
  assert.deepEqual(children(), []);
});
