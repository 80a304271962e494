import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after } from 'node:test';
import type { Quartermaster } from '@quartermaster/client';
import { startCommand } from '../../scripts/start-command.ts';
import { connectClient } from './client.ts';

/** The real service as a separate process, reached over sockets. */
export interface StartedService {
  readonly filesUrl: string;
  readonly pluginsUrl: string;
  /** The first key of the installation, which has every scope. */
  readonly key: string;
  readonly client: Quartermaster;
  readonly process: ChildProcess;
  readonly folder: string;
  /** Returns the log so far. */
  log(): string;
  /** Sends SIGTERM. Returns the exit code after the whole log has been read. */
  stop(): Promise<number | null>;
  /** Sends SIGKILL, like a crash. */
  kill(): Promise<void>;
}

export interface ServiceRequest {
  /** The data folder; default: a new one that is deleted with the test. */
  readonly folder?: string;
  /** Default: the key that the first start wrote into the folder. */
  readonly key?: string;
  /** Settings without the prefix `QUARTERMASTER_`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** A command prefix that replaces itself by the service (`exec`), for machines without certain features. */
  readonly launcher?: readonly string[];
  /** The command of an installed package. Default: what `npm start` runs in this checkout. */
  readonly program?: readonly string[];
}

/** Registers clean-up functions: a test, or a script that takes screenshots or measures. */
export interface Ending {
  after(end: () => unknown): void;
  /** Whether the test has passed, known when its clean-up functions run. */
  readonly passed?: boolean;
  diagnostic?(message: string): void;
}

/** Starts the service on free ports and ends it with the test. */
export async function startService(t: Ending, options: ServiceRequest = {}): Promise<StartedService> {
  const folder = options.folder ?? (await temporaryFolder(t));
  const settings = { FILES_PORT: '0', PLUGINS_PORT: '0', DATA: folder, DRAIN_SECONDS: '0', ...options.settings };
  const env = Object.fromEntries(Object.entries(settings).map(([name, value]) => [`QUARTERMASTER_${name}`, value]));
  const command = options.program === undefined ? startCommand() : { environment: {}, args: options.program };
  const [program = process.execPath, ...args] = [...(options.launcher ?? []), process.execPath, ...command.args];
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH ?? '', HOME: folder, ...command.environment, ...env },
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const stopOrKill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const killer = setTimeout(() => child.kill('SIGKILL'), 10_000);
    child.kill('SIGTERM');
    await once(child, 'close');
    clearTimeout(killer);
  };
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  t.after(async () => {
    // The service writes its log in batches, and the last one when it stops.
    if (t.passed === false) await stopOrKill();
    await kill();
    if (t.passed === false) t.diagnostic?.(failuresIn(log));
  });

  const wanted = options.settings?.SERVE === 'plugins' ? 1 : 2;
  const urls = await readUrls(child, wanted);
  if (urls.length < wanted) throw new Error(`the service did not start:\n${log}`);
  const [pluginsUrl = '', filesUrl = ''] = urls.reverse();
  const key = options.key ?? (await readFile(join(folder, 'first-key'), 'utf8')).trim();
  return {
    filesUrl,
    pluginsUrl,
    key,
    client: connectClient({ filesUrl: filesUrl || pluginsUrl, pluginsUrl }, key),
    process: child,
    folder,
    log: () => log,
    kill,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      child.kill('SIGTERM');
      const [code] = (await once(child, 'close')) as [number | null];
      return code;
    },
  };
}

/**
 * Returns a function that starts a service, or something around one, at its first call. The tests of a file share it, if
 * their assertions do not depend on each other's data. Call this outside of tests: what was started ends with the file.
 */
export function share<Opened>(open: (t: Ending) => Promise<Opened>): () => Promise<Opened> {
  const ends: Array<() => unknown> = [];
  after(async () => {
    for (const end of ends.reverse()) await end();
  });
  let opened: Promise<Opened> | undefined;
  return () => {
    opened ??= open({ after: (end) => void ends.push(end) });
    return opened;
  };
}

/** Returns the lines of the log, or those with this message. */
export function logLines(
  { log }: Pick<StartedService, 'log'>,
  message?: string,
): Array<Readonly<Record<string, unknown>>> {
  const lines = log()
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  return lines.filter(({ msg }) => message === undefined || msg === message);
}

/** The lines of a log with level `error` and above, without which the reason for a failed test is lost. */
function failuresIn(log: string): string {
  const lines = log.split('\n').filter((line) => /"level":"(?:error|fatal)"/.test(line));
  return `the service logged ${lines.length} errors\n${lines.slice(-5).join('\n')}`;
}

/** Creates a folder that is deleted with the test. */
export async function temporaryFolder(t: Ending): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-test-'));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  return folder;
}

async function readUrls(child: ChildProcess, wanted: number): Promise<string[]> {
  const urls: string[] = [];
  if (child.stdout === null) return urls;
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /address +(http:\/\/\S+)/.exec(line)?.[1];
    if (url !== undefined) urls.push(url);
    if (urls.length === wanted) break;
  }
  child.stdout.resume();
  return urls;
}
