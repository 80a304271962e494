import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { SandboxCapabilities } from './sandbox.ts';
import { nobody, type SpawnSettings, spawnChild, utilLinuxWrapper } from './spawn-child.ts';

/** What a child that really tried found. */
export interface Probe {
  readonly capabilities: SandboxCapabilities;
  readonly settings: SpawnSettings;
  /** By what was tried; true: it was denied. For the log. */
  readonly denied: Readonly<Record<string, boolean>>;
  /** A child ends with the server even while it spins. */
  readonly endsWithServer: boolean;
}

const probeLimitMs = 10_000;

/** Starts children with ever fewer of the machine's means until one works. Throws when none does. */
export async function probeMachine(): Promise<Probe> {
  const failures: string[] = [];
  for (const settings of await listSettings()) {
    const found = await tryChild(settings);
    if (typeof found === 'string') failures.push(found);
    else return { ...found, settings, endsWithServer: settings.wrapper.length > 0 };
  }
  throw new Error(`No child process for plugins can be started: ${failures.join('; ')}`);
}

async function listSettings(): Promise<SpawnSettings[]> {
  const wrappers =
    (await isPresent('/usr/bin/setpriv')) && (await isPresent('/usr/bin/prlimit')) ? [utilLinuxWrapper, []] : [[]];
  const users = process.getuid?.() === 0 ? [nobody, undefined] : [undefined];
  return users.flatMap((userId) => wrappers.map((wrapper) => ({ userId, wrapper })));
}

async function tryChild(settings: SpawnSettings): Promise<Pick<Probe, 'capabilities' | 'denied'> | string> {
  const plan = { bundleFolder: import.meta.dirname, memoryMb: 128, entry: `${import.meta.dirname}/probe-child.ts` };
  const child = spawnChild(plan, settings);
  const timer = setTimeout(() => child.kill('SIGKILL'), probeLimitMs);
  let answer = '';
  let complaint = '';
  child.stdio[3]
    ?.on('error', () => {})
    .on('data', (chunk: Buffer) => {
      answer += chunk.toString('utf8');
    });
  child.stdout?.resume();
  child.stderr?.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString('utf8')).slice(-500);
  });
  const failure = await new Promise<string>((resolve) => {
    child.once('error', (cause) => resolve(cause.message)).once('close', () => resolve(complaint));
  });
  clearTimeout(timer);
  return readAnswer(answer) ?? (failure.trim() || 'it gave no answer');
}

function readAnswer(answer: string): Pick<Probe, 'capabilities' | 'denied'> | undefined {
  if (!answer.endsWith('\n')) return undefined;
  // Written by `probe-child.ts`, which runs no foreign code.
  const { denied, userId } = JSON.parse(answer) as { denied: Record<string, boolean>; userId: number | undefined };
  return {
    denied,
    capabilities: {
      permissions: ['reading', 'writing', 'processes'].every((name) => denied[name] === true),
      networkDenied: denied.network === true && denied.names === true,
      separateUser: userId !== process.getuid?.(),
    },
  };
}

async function isPresent(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Whether every user may read this file, or read and search this folder, through all the folders above it. */
export async function isReadableByAll(path: string): Promise<boolean> {
  const found = await stat(path);
  const needed = found.isDirectory() ? 0o005 : 0o004;
  if ((found.mode & needed) !== needed) return false;
  for (let at = dirname(path); ; at = dirname(at)) {
    if (((await stat(at)).mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}
