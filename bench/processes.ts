import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { startCommand } from '../scripts/start-command.ts';

export interface Running {
  readonly pid: number;
  /** The addresses that the process printed, in order. */
  readonly urls: readonly string[];
  /** Sends SIGTERM. Returns the exit code, or null when a signal ended the process. */
  stop(): Promise<number | null>;
}

interface StartOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** A file for its standard error. A terminal that shows each line would distort the measurement. */
  readonly log?: string;
  /** The working folder; default: the current one. */
  readonly cwd?: string;
}

/** Starts one of our programs and waits until it has printed `addresses` URLs. */
export async function start(
  program: string | readonly string[],
  addresses: number,
  { environment = {}, log, cwd }: StartOptions = {},
): Promise<Running> {
  // 2 is the standard error of the bench.
  const errors = log === undefined ? 2 : openSync(log, 'a');
  const child = spawn(process.execPath, [program].flat(), {
    stdio: ['ignore', 'pipe', errors],
    env: { PATH: process.env.PATH ?? '', ...environment },
    cwd,
  });
  if (log !== undefined) closeSync(errors);
  const stdout = child.stdout as Readable; // a pipe, as requested
  const urls: string[] = [];
  for await (const line of createInterface({ input: stdout })) {
    const url = /http:\/\/\S+/.exec(line)?.[0];
    if (url !== undefined) urls.push(url);
    if (urls.length === addresses) break;
  }
  if (urls.length < addresses) {
    const tail = log === undefined ? '' : `:\n${readFileSync(log, 'utf8').slice(-2000)}`;
    throw new Error(`${program} ended before it listened${tail}`);
  }
  stdout.resume();
  return { pid: child.pid as number, urls, stop: () => stop(child) }; // it runs, so it has a pid
}

async function stop(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

export interface Service extends Running {
  readonly filesUrl: string;
  readonly pluginsUrl: string;
  readonly key: string;
}

/**
 * Starts the real service of the checkout `root` on free ports, with its data in `folder` and its log beside that
 * folder.
 */
export async function startService(
  folder: string,
  environment: Readonly<Record<string, string>>,
  root?: string,
): Promise<Service> {
  const command = startCommand(root);
  mkdirSync(dirname(folder), { recursive: true });
  const running = await start(command.args, 2, {
    environment: {
      ...command.environment,
      QUARTERMASTER_DATA: folder,
      QUARTERMASTER_FILES_PORT: '0',
      QUARTERMASTER_PLUGINS_PORT: '0',
      QUARTERMASTER_MAX_FILE_BYTES: String(5 * 1024 ** 3),
      // The service need not drain, because no client is left. Earlier commits refuse unknown settings.
      ...(knowsSetting('QUARTERMASTER_DRAIN_SECONDS', root) ? { QUARTERMASTER_DRAIN_SECONDS: '0' } : {}),
      ...environment,
    },
    log: `${folder}.log`,
    ...(root === undefined ? {} : { cwd: root }),
  });
  const [filesUrl = '', pluginsUrl = ''] = running.urls;
  return { ...running, filesUrl, pluginsUrl, key: readFileSync(join(folder, 'first-key'), 'utf8').trim() };
}

function knowsSetting(name: string, root = '.'): boolean {
  return readFileSync(join(root, 'docs/reference/settings.md'), 'utf8').includes(`\`${name}\``);
}

/**
 * Returns a port for a service that restarts on it. The port is below the ephemeral range of the system. A client that
 * connects to a free port of that range could get the same port and connect to itself.
 */
export async function freePort(): Promise<string> {
  for (;;) {
    const server = createServer().listen(randomInt(10_000, 30_000), '127.0.0.1');
    const port = await once(server, 'listening').then(
      () => (server.address() as AddressInfo).port, // it listens on TCP
      () => null,
    );
    server.close();
    if (port !== null) return String(port);
  }
}

/** Resets the peak of resident memory. */
export function resetPeakMemory(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** Returns the peak of resident memory since the reset, in MiB. */
export function peakMemory(pid: number): number {
  const line = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1]) / 1024;
}

/** Returns the current resident memory in MiB. */
export function residentMemory(pid: number): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1]) / 1024;
}

/** Returns the memory in MiB that a process shares with no other. */
export function privateMemory(pid: number): number {
  const lines = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8').matchAll(/^Private_\w+:\s+(\d+) kB/gm);
  return [...lines].reduce((sum, [, kilobytes]) => sum + Number(kilobytes), 0) / 1024;
}

/** Returns the process and all its living descendants. */
export function processTree(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  return [pid, ...children.flatMap((child) => processTree(Number(child)))];
}

/** Returns the processor seconds of a process and its living descendants. */
export function processorTime(pid: number): number {
  return processTree(pid).reduce((sum, each) => sum + ownProcessorTime(each), 0);
}

/**
 * Returns the processor seconds of a process with all its threads. Unlike elapsed time, this does not depend on other
 * load. With `ended`, those of its children that have ended are included.
 */
export function ownProcessorTime(pid: number, ended = false): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const times = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return times.slice(11, ended ? 15 : 13).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
}

/** Milliseconds between two samples of Node's delay monitor. An undelayed loop shows this value. */
const betweenLooksMs = 10;

/** Returns the event-loop delay p99 in milliseconds since the last call. */
export async function loopDelay(service: Service): Promise<number> {
  const text = await (
    await fetch(`${service.filesUrl}/metrics`, { headers: { Authorization: `Bearer ${service.key}` } })
  ).text();
  const line = /^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(text);
  return Math.max(0, Number(line?.[1]) * 1000 - betweenLooksMs);
}

/** Milliseconds until a service is ready, and its MiB and event-loop delay once it is idle. */
export interface Idle {
  readonly readyMs: number;
  readonly idleMb: number;
  readonly loopP99: number;
}

export async function measureIdle(
  data: string,
  settings: Readonly<Record<string, string>>,
  settle: (service: Service) => Promise<void>,
): Promise<Idle> {
  const began = performance.now();
  const service = await startService(data, settings);
  const readyMs = performance.now() - began;
  try {
    await settle(service);
    return { readyMs, idleMb: residentMemory(service.pid), loopP99: await loopDelay(service) };
  } finally {
    await service.stop();
  }
}
