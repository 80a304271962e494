import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { startCommand } from '../../scripts/start-command.ts';

/** A series of runs during which handler processes and the service are killed at random. */
export interface SoakPlan {
  readonly folder: string;
  readonly executions: number;
  /** The average number of runs between two kills of a plugin process. */
  readonly runsPerKill: number;
  /** The number of kills of the service within the runs. After each kill another service starts on the same data. */
  readonly serviceKills: number;
  /** Runs of the last service before its memory is measured, because V8 lets a young heap grow to its limit first. */
  readonly warmRuns: number;
  /** Runs between the first and the second measurement of the memory. */
  readonly watchedRuns: number;
}

/**
 * The counts after the last run. `growthMb` is the growth of the resident memory of the last service between its two
 * measurements.
 */
export interface SoakResult {
  readonly succeeded: number;
  readonly failed: number;
  readonly childrenKilled: number;
  readonly zombies: number;
  readonly orphans: number;
  readonly files: readonly string[];
  readonly filesWithCredential: readonly string[];
  readonly growthMb: number;
}

const credential = 'soak-credential-7b1e0d55c2f94a68';
const lanes = 8;
const timeoutMs = 60_000;

interface Service {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly url: string;
}

export async function soak({ folder, runsPerKill, serviceKills, ...plan }: SoakPlan): Promise<SoakResult> {
  const places = { data: join(folder, 'data'), bundles: join(folder, 'bundles'), temporary: join(folder, 'temporary') };
  await writeBundle(places.bundles);
  await mkdir(places.temporary, { recursive: true });
  const counts = { succeeded: 0, failed: 0, childrenKilled: 0 };
  let orphans = 0;
  const share = Math.ceil(plan.executions / serviceKills);
  for (let kill = 0; kill < serviceKills; kill += 1) {
    const service = await startService(places);
    // Kills the service while every lane still has work.
    const work = execute(service, { runs: share, runsPerKill, counts });
    while (work.left() > lanes) await pause(5);
    const children = childrenOf(service.pid);
    await end(service, 'SIGKILL');
    await work.over;
    orphans += await countLeft(children);
  }
  const service = await startService(places);
  await execute(service, { runs: plan.warmRuns, runsPerKill, counts }).over;
  const before = await settledMemory(service.pid);
  await execute(service, { runs: plan.watchedRuns, runsPerKill, counts }).over;
  const growthMb = (await settledMemory(service.pid)) - before;
  const zombies = await countZombies(service.pid);
  const children = childrenOf(service.pid);
  await end(service, 'SIGTERM');
  orphans += await countLeft([...children, ...processesOf(places.bundles)]);
  return { ...counts, zombies, orphans, ...filesLeft(places), growthMb };
}

interface Counts {
  succeeded: number;
  failed: number;
  childrenKilled: number;
}

/** Counts every response, whatever its content, and every call that the end of the service interrupted. */
function execute(
  service: Service,
  { runs, runsPerKill, counts }: { runs: number; runsPerKill: number; counts: Counts },
): { left(): number; readonly over: Promise<unknown> } {
  let remaining = runs;
  const body = JSON.stringify({
    ...{ bundle_id: 'soak', plugin_id: 'work', input_params: { text: 'x'.repeat(200) } },
    credentials: { TOKEN: credential },
  });
  const worker = async (): Promise<void> => {
    while (remaining > 0) {
      remaining -= 1;
      if (Math.random() < 1 / runsPerKill) counts.childrenKilled += killOneOf(childrenOf(service.pid));
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${service.url}/v1/execute`, { method: 'POST', headers, body }).catch(() => null);
      await answer?.arrayBuffer().catch(() => null);
      if (answer?.status === 200) counts.succeeded += 1;
      else counts.failed += 1;
      if (answer === null && service.process.signalCode !== null) return;
    }
  };
  return { left: () => remaining, over: Promise.all(Array.from({ length: lanes }, worker)) };
}

function killOneOf(pids: readonly number[]): number {
  const pid = pids[Math.floor(Math.random() * pids.length)];
  if (pid === undefined) return 0;
  try {
    process.kill(pid, 'SIGKILL');
    return 1;
  } catch {
    // The process has already ended.
    return 0;
  }
}

async function startService(places: { data: string; bundles: string; temporary: string }): Promise<Service> {
  const command = startCommand();
  const settings = {
    DATA: places.data,
    BUNDLES: places.bundles,
    FILES_PORT: '0',
    PLUGINS_PORT: '0',
    DRAIN_SECONDS: '0',
  };
  const named = Object.entries({ ...settings, ISOLATION: 'process', LOG_LEVEL: 'warn' });
  const child = spawn(process.execPath, command.args, {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...{ PATH: process.env.PATH ?? '', TMPDIR: places.temporary },
      ...command.environment,
      ...Object.fromEntries(named.map(([name, value]) => [`QUARTERMASTER_${name}`, value])),
    },
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /plugins address +(http:\/\/\S+)/.exec(line)?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    return { process: child, pid: child.pid as number, url }; // it runs, so it has a pid
  }
  throw new Error('the service ended before it listened');
}

async function end(service: Service, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const ended = once(service.process, 'exit');
  service.process.kill(signal);
  await ended;
}

function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return text === '' ? [] : text.split(' ').map(Number);
  } catch {
    return [];
  }
}

/** Returns the processes that run these bundles. The command line of a child names its folder. */
function processesOf(bundles: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => textOf(`/proc/${pid}/cmdline`).includes(bundles))
    .map(Number);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

const stateOf = (pid: number): string => /\) (\S)/.exec(textOf(`/proc/${pid}/stat`))?.[1] ?? 'gone';

/** Waits until the count is 0 or the time limit is reached. Returns the last count. */
async function untilNone(count: () => number): Promise<number> {
  for (const last = Date.now() + timeoutMs; count() > 0 && Date.now() < last; ) await pause(20);
  return count();
}

/**
 * Counts the processes that are still alive. A zombie of a killed service waits for the system's first process and
 * holds no resources, so it does not count.
 */
function countLeft(pids: readonly number[]): Promise<number> {
  return untilNone(() => pids.filter((pid) => !['gone', 'Z', 'X'].includes(stateOf(pid))).length);
}

function countZombies(pid: number): Promise<number> {
  return untilNone(() => childrenOf(pid).filter((child) => stateOf(child) === 'Z').length);
}

/** Returns the smallest resident memory within three idle seconds, because it varies with garbage collection. */
async function settledMemory(pid: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < 15; look += 1) {
    const kilobytes = /VmRSS:\s+(\d+) kB/.exec(textOf(`/proc/${pid}/status`))?.[1];
    least = Math.min(least, Number(kilobytes) / 1024);
    await pause(200);
  }
  return least;
}

/** Returns the files that should have been removed. */
function filesLeft({ data, bundles, temporary }: { data: string; bundles: string; temporary: string }) {
  const all = (folder: string) => globSync('**/*', { cwd: folder, withFileTypes: true }).filter((it) => it.isFile());
  const isLeft = ({ name, parentPath }: { name: string; parentPath: string }) =>
    parentPath.startsWith(temporary) || parentPath.startsWith(join(data, 'staging')) || /^core(\.|$)/.test(name);
  const written = [...all(data), ...all(temporary), ...all(bundles)];
  const paths = (found: typeof written) => found.map(({ name, parentPath }) => join(parentPath, name));
  return {
    files: paths(written.filter(isLeft)),
    filesWithCredential: paths(written).filter((path) => readFileSync(path).includes(credential)),
  };
}

async function writeBundle(bundles: string): Promise<void> {
  const folder = join(bundles, 'soak');
  await mkdir(folder, { recursive: true });
  const files = {
    'bundle.yaml': `id: soak
version: 1.0.0
name: Soak
description: Works a little.
provider: Example
developer: Quartermaster
hosts: []
credentials_schema:
  type: object
  required: [TOKEN]
  properties: { TOKEN: { type: string, description: A secret., x-secret: true } }
`,
    'work.yaml': `id: work
name: Work
description: Answers with what it got.
effects: read
idempotent: true
input_schema: { type: object, properties: { text: { type: string, description: A text. } } }
output_schema: { type: object, properties: { text: { type: string, description: The text. } } }
handler: work.mjs
`,
    'work.mjs': 'export const run = ({ text }) => ({ text });\n',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
}
