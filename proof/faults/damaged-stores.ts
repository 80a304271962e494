import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type StartedService, startService } from '../../test/support/service.ts';
import { clockLauncher } from '../history/chaos.ts';
import { perform } from '../history/client.ts';
import { describeContent } from '../history/content.ts';
import type { Findings } from '../history/findings.ts';
import { type Content, createHistory } from '../history/history.ts';
import { sendRequest } from '../history/send-request.ts';
import type { PartOptions, PartReport } from '../report.ts';
import { createEndings, type Endings, mapWithConcurrency } from '../support/endings.ts';
import type { Random } from '../support/random.ts';

/** Damage by an operator or a disk to a stopped store. */
interface Damage {
  readonly name: string;
  /** Damages the folder. `old` is a copy of the database from before half of the uploads. */
  apply(folder: string, old: string, random: Random): void;
  /**
   * Whether a running service is damaged after its start checks. Its files are then sent again before any file is read.
   */
  readonly running?: boolean;
}

const database = 'quartermaster.db';

const damages: readonly Damage[] = [
  {
    name: 'log of the database damaged',
    apply: (folder, _, random) => flip(join(folder, `${database}-wal`), random, 0.5),
  },
  { name: 'log of the database gone', apply: (folder) => rmSync(join(folder, `${database}-wal`), { force: true }) },
  {
    name: 'index of the log damaged',
    apply: (folder, _, random) => flip(join(folder, `${database}-shm`), random, 0.2),
  },
  { name: 'first page of the database damaged', apply: (folder, _, random) => flip(join(folder, database), random, 0) },
  { name: 'page of the database damaged', apply: (folder, _, random) => flip(join(folder, database), random, 0.6) },
  { name: 'older database put back', apply: putBack },
  { name: 'blob gone', apply: (folder, _, random) => rmSync(anyBlob(folder, random)) },
  { name: 'blob damaged', apply: (folder, _, random) => flip(anyBlob(folder, random), random, 0.5) },
  { name: 'blob gone while running', apply: (folder, _, random) => rmSync(anyBlob(folder, random)), running: true },
  { name: 'blob cut while running', apply: (folder, _, random) => cut(anyBlob(folder, random)), running: true },
  { name: 'blob cut', apply: (folder, _, random) => cut(anyBlob(folder, random)) },
];

/**
 * Tests damaged and swapped files. Rows may be lost with the database that held them, but no bytes: two hours later
 * everything acknowledged is still in the data folder. Damaged bytes are never served as good ones, and sending a file
 * again repairs it.
 */
export async function damagedStores(options: PartOptions): Promise<PartReport> {
  let starts = 0;
  const refusals: string[] = [];
  const rounds = options.slice ? 1 : 3;
  const trials = Array.from({ length: rounds }, () => damages).flat();
  await mapWithConcurrency(trials, options.width, async (damage, index) => {
    const endings = createEndings();
    const findings = options.findings.after(damage.name);
    const random = options.random.fork(`${damage.name} ${index}`);
    const folder = join(options.work, `damaged-${index}`);
    try {
      const contents = await fillAndKill(folder, random, endings);
      if (!damage.running) damage.apply(folder, `${folder}-old`, random);
      const intact = contents.filter((content) => hashesBelow(folder).has(content.sha256));
      const service = await startService(endings, { folder, launcher: clockLauncher('+2h') }).catch(() => undefined);
      if (service === undefined) refusals.push(damage.name);
      else {
        starts += 1;
        await checkKept(folder, intact, findings);
        if (damage.running) {
          damage.apply(folder, `${folder}-old`, random);
          await checkSentAgain(service, contents, findings);
        }
        await checkServed(service, findings);
        await checkSentAgain(service, contents, findings);
        await service.stop();
      }
    } finally {
      await endings.end();
      rmSync(folder, { recursive: true, force: true });
      rmSync(`${folder}-old`, { recursive: true, force: true });
    }
  });
  return {
    name: 'Damaged and swapped files',
    cases: trials.length,
    figures: {
      kinds: damages.length,
      trials: trials.length,
      'successful starts': starts,
      'refused starts': refusals.join(', ') || 'none',
    },
  };
}

/** Uploads twenty files, copies the database after ten of them, and kills the service. */
async function fillAndKill(folder: string, random: Random, endings: Endings): Promise<Content[]> {
  mkdirSync(folder);
  const history = createHistory();
  const contents: Content[] = [];
  const fill = async (service: StartedService) => {
    for (let count = 0; count < 10; count++) {
      const content = describeContent(1 + random.below(2 ** 30), 200 + random.below(20_000));
      const { answer } = await perform(history, service, { what: 'upload', name: `${contents.length}.txt`, content });
      if (answer?.status !== 200) throw new Error(`an upload was answered ${answer?.status}`);
      contents.push(content);
    }
  };
  const first = await startService(endings, { folder });
  await fill(first);
  await first.stop();
  mkdirSync(`${folder}-old`);
  cpSync(join(folder, database), join(`${folder}-old`, database));
  const second = await startService(endings, { folder });
  await fill(second);
  await second.kill();
  return contents;
}

/** Milliseconds within which the sweep of a start has ended. */
const sweepEndsWithin = 2_000;

/** Checks that the sweep of the start leaves all acknowledged bytes somewhere in the data folder. */
async function checkKept(folder: string, intact: readonly Content[], findings: Findings): Promise<void> {
  await pause(sweepEndsWithin);
  const remaining = hashesBelow(folder);
  const deleted = intact.filter(({ sha256 }) => !remaining.has(sha256));
  if (deleted.length > 0) findings.add('lost', `the bytes of ${deleted.length} acknowledged files are deleted`);
}

/** Checks that every listed file is either whole or refused. */
async function checkServed(service: StartedService, findings: Findings): Promise<void> {
  const { data } = await service.client.files.list({ limit: 100 });
  for (const { file_id, sha256 } of data) {
    const read = await sendRequest(service, { what: 'read file', fileId: file_id, sha256 });
    if (read?.status === 200 && read.sha256 !== sha256) findings.add('wrong bytes', `${file_id} is served as whole`);
  }
}

/** Checks that a file can be read after the same content is sent again. */
async function checkSentAgain(
  service: StartedService,
  contents: readonly Content[],
  findings: Findings,
): Promise<void> {
  for (const content of contents) {
    const again = await sendRequest(service, { what: 'upload', name: 'again.txt', content });
    if (again?.status !== 200) continue;
    const read = await sendRequest(service, { what: 'read file', fileId: again.id ?? '', sha256: '' });
    if (read?.sha256 === content.sha256) continue;
    findings.add('lost', `a file sent again is acknowledged and cannot be read: ${read?.status}`);
  }
}

function putBack(folder: string, old: string): void {
  cpSync(join(old, database), join(folder, database));
  for (const end of ['-wal', '-shm']) rmSync(join(folder, database + end), { force: true });
}

/** Changes 64 bytes after a fraction of the file. */
function flip(path: string, random: Random, fraction: number): void {
  if (!existsSync(path)) return;
  const bytes = readFileSync(path);
  const at = Math.floor(bytes.length * fraction);
  for (let index = at; index < Math.min(at + 64, bytes.length); index++) bytes[index] = random.below(256);
  writeFileSync(path, bytes);
}

function cut(path: string): void {
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.subarray(0, bytes.length >> 1));
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

function anyBlob(folder: string, random: Random): string {
  const blob = random.pick(filesBelow(join(folder, 'blobs')));
  if (blob === undefined) throw new Error('the store has no blob');
  return blob;
}

function hashesBelow(folder: string): Set<string> {
  return new Set(filesBelow(folder).map((path) => createHash('sha256').update(readFileSync(path)).digest('hex')));
}
