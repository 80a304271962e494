import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type LoadConnection, measureLoad } from '../load.ts';
import { ownProcessorTime, privateMemory, processTree, start } from '../processes.ts';

/** A system that does the same work as others. */
export interface Contestant {
  readonly name: string;
  readonly version: string;
  /** The process that does the work, with its descendants. Without one, processor time is that of programs that this process starts. */
  readonly pid?: number;
  /** What was checked before the measurement, and how good the answers were. */
  readonly checked: string;
  /** Opens a connection. Each call of `ask` is one operation. */
  open(): LoadConnection | Promise<LoadConnection>;
}

export interface Figures {
  /** What is measured, such as `uploads`. */
  readonly group: string;
  readonly work: string;
  readonly system: string;
  readonly version: string;
  readonly perSecond: number;
  readonly p50: number;
  /** Undefined for fewer than a hundred operations. */
  readonly p99: number | undefined;
  /** Milliseconds of processor time of an operation; undefined for a floor inside this process. */
  readonly processorMs?: number | undefined;
  /** MiB after the work that the processes share with no other; undefined for programs that end. */
  readonly memoryMb?: number | undefined;
  readonly checked: string;
  /** How long it was measured, and the load of the machine. */
  readonly effort: string;
}

export interface Work {
  readonly group: string;
  readonly work: string;
  /** The numbers of connections, each of which is measured. */
  readonly connections: readonly number[];
}

export interface Effort {
  readonly rounds: number;
  readonly seconds: number;
}

/** Measures all contestants in turn, round after round, so that other load on the machine affects each of them. Returns medians of the rounds. */
export async function hold(
  { group, work, connections: counts }: Work,
  contestants: readonly Contestant[],
  { rounds, seconds }: Effort,
): Promise<Figures[]> {
  const rows: Figures[] = [];
  for (const connections of counts) {
    const name = `${work}, ${connections} connection${connections > 1 ? 's' : ''}`;
    rows.push(...(await holdOne({ group, work: name }, contestants, { connections, rounds, seconds })));
  }
  return rows;
}

async function holdOne(
  of: { group: string; work: string },
  contestants: readonly Contestant[],
  { connections, rounds, seconds }: Effort & { connections: number },
): Promise<Figures[]> {
  const measured = contestants.map((contestant) => ({ contestant, loads: [] as Measurement[] }));
  // The first round only fills the caches.
  for (let round = 0; round <= rounds; round++) {
    for (const { contestant, loads } of measured) {
      // What another has written would be flushed meanwhile.
      await runProgram('sync', []);
      const load = await measure(contestant, { connections, seconds });
      if (round > 0) loads.push(load);
    }
  }
  const effort = `${rounds} rounds of ${seconds} s, load ${loadavg()[0]?.toFixed(0)}`;
  return measured.map(({ contestant: { name, version, pid, checked }, loads }) => ({
    ...{ ...of, system: name, version, checked, effort },
    perSecond: median(loads.map((load) => load.perSecond)),
    p50: median(loads.map((load) => load.p50)),
    p99: loads.reduce((sum, load) => sum + load.responses, 0) < 100 ? undefined : median(loads.map((load) => load.p99)),
    processorMs: pid === 0 ? undefined : median(loads.map((load) => load.processorMs)),
    memoryMb: pid ? processTree(pid).reduce((sum, each) => sum + privateMemory(each), 0) : undefined,
  }));
}

type Measurement = Readonly<Record<'perSecond' | 'p50' | 'p99' | 'responses' | 'processorMs', number>>;

async function measure(
  { name, pid, open }: Contestant,
  load: { connections: number; seconds: number },
): Promise<Measurement> {
  const opened = await Promise.all(Array.from({ length: load.connections }, open));
  const used = pid !== undefined && pid > 0 ? watchTree(pid) : watchStarted();
  let seconds = 0;
  const figures = await measureLoad(load, () => opened.pop() as LoadConnection) // as many as it opens
    .finally(() => {
      seconds = used();
    });
  if (figures.failures > 0) throw new Error(`${name}: ${figures.failures} of ${figures.responses} failed`);
  return { ...figures, processorMs: (seconds * 1000) / figures.responses };
}

/**
 * Returns a function that returns the processor seconds that a process and its descendants have used since. The time of
 * a confined reader never reaches its parent, so that the tree is read again and again.
 */
function watchTree(pid: number): () => number {
  const seen = new Map<number, { first: number; last: number }>();
  function look(isFirst: boolean): void {
    for (const each of processTree(pid)) {
      const last = ownProcessorTime(each);
      seen.set(each, { first: seen.get(each)?.first ?? (isFirst ? last : 0), last });
    }
  }
  look(true);
  const timer = setInterval(() => {
    try {
      look(false);
    } catch {
      // A process has ended between two reads.
    }
  }, 20);
  return () => {
    clearInterval(timer);
    look(false);
    return [...seen.values()].reduce((sum, { first, last }) => sum + last - first, 0);
  };
}

/** The same for the programs that this process starts. */
function watchStarted(): () => number {
  const ended = () => ownProcessorTime(process.pid, true) - ownProcessorTime(process.pid);
  const before = ended();
  return () => ended() - before;
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

export function packageFile(path: string): string {
  return join(import.meta.dirname, 'node_modules', path);
}

export function versionOf(name: string): string {
  return (JSON.parse(readFileSync(packageFile(`${name}/package.json`), 'utf8')) as { version: string }).version;
}

/** Runs a program that ends. Returns what it has written. */
export async function runProgram(program: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(program, args, { maxBuffer: 2 ** 28 });
  return stdout + stderr;
}

/** A small HTTP server around the library of a peer: what an application would build. It prints its URL when it has stored everything. */
export async function startHost(program: string, args: ReadonlyArray<string | number>) {
  const began = performance.now();
  const running = await start([join(import.meta.dirname, 'hosts', program), ...args.map(String)], 1);
  return { ...running, url: running.urls[0] ?? '', seconds: (performance.now() - began) / 1000 };
}
