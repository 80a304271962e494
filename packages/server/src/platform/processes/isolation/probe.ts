import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bubblewrapPath, systemCallFilter } from './bubblewrap.ts';
import { channelDescriptor, mappedAtStartMb, nobody, type SpawnSettings, spawnIsolated } from './spawn-isolated.ts';

/** The capabilities that apply to every child on this machine. */
export interface MachineCapabilities {
  /** Node's permission model is on. */
  readonly permissions: boolean;
  /** The permission model also denies the network (Node.js 26). */
  readonly networkDenied: boolean;
  /** The child runs as a different user from the server. */
  readonly separateUser: boolean;
}

/** The result of a probe in a real child process. */
export interface Probe {
  readonly capabilities: MachineCapabilities;
  readonly settings: SpawnSettings;
  /** For each attempt, whether it was denied. For the log. */
  readonly denied: Readonly<Record<string, boolean>>;
  /** A child ends with the server even while it is in an endless loop. */
  readonly endsWithServer: boolean;
}

/** Whether this machine supports tier T2, and if not, the reason. */
export type SandboxProbe =
  | { readonly settings: SpawnSettings }
  | { readonly settings: undefined; readonly missing: string; readonly detail: string };

/** For the log, where there is no sandbox. */
export const sandboxRemedy =
  'Install bubblewrap and allow user namespaces: see docs/reference/isolation.md, for containers docs/guides/deploying.md.';

/**
 * The time limit of a probe. It is long, because a timeout on a busy machine would weaken the isolation of all
 * children.
 */
const probeLimitMs = 30_000;
const folder = import.meta.dirname;

/** Starts children with fewer and fewer isolation features until one works. Throws when none does. */
export async function probeMachine(): Promise<Probe> {
  const failures: string[] = [];
  const isThere = (await isPresent('/usr/bin/setpriv')) && (await isPresent('/usr/bin/prlimit'));
  for (const candidate of candidates()) {
    for (const hasUtilLinux of isThere ? [true, false] : [false]) {
      const settings = { ...candidate, hasUtilLinux, isSandboxed: false };
      const found = await tryChild({ entry: './probe-child.mjs', isUnrestricted: false }, settings);
      if (typeof found === 'string') failures.push(found);
      else return { ...describe(found), settings, endsWithServer: hasUtilLinux };
    }
  }
  throw new Error(`No child process can be started: ${failures.join('; ')}`);
}

/** Attempts, in a child in bubblewrap without Node's permission model, what the kernel alone should deny. */
export async function probeSandbox(): Promise<SandboxProbe> {
  if (process.platform !== 'linux') return missing('bubblewrap needs Linux');
  if (systemCallFilter === undefined) return missing(`there is no system-call filter for ${process.arch}`);
  if (!(await isPresent(bubblewrapPath))) return missing('bubblewrap is not installed', bubblewrapPath);
  const failures: string[] = [];
  const hasUtilLinux = await isPresent('/usr/bin/prlimit');
  for (const { user } of candidates().filter(({ keepsCapabilities }) => keepsCapabilities !== true)) {
    const settings = { user, hasUtilLinux, isSandboxed: true };
    const found = await tryChild({ entry: './probe-sandbox.mjs', isUnrestricted: true }, settings);
    if (typeof found === 'string') failures.push(found);
    else {
      const open = Object.keys(found.denied).filter((name) => found.denied[name] !== true);
      if (open.length === 0) return { settings };
      failures.push(`it leaves open: ${open.join(', ')}`);
    }
  }
  const detail = [...new Set(failures)].join('; ');
  // bubblewrap prints these words when the kernel, a container or AppArmor refuses a user namespace.
  if (/new namespace|uid map/.test(detail)) return missing('user namespaces are not allowed here', detail);
  return missing('bubblewrap does not work here (the log says why)', detail);
}

/** `detail` may hold paths and goes to the log only. */
function missing(reason: string, detail = ''): SandboxProbe {
  return { settings: undefined, missing: reason, detail };
}

/**
 * If the server is allowed to, it gives children separate users; containers may have few. Root without capabilities can
 * read an installation in a closed folder of root, but not in a closed folder of another user.
 */
function candidates(): ReadonlyArray<Pick<SpawnSettings, 'user' | 'keepsCapabilities'>> {
  const own = { user: undefined };
  if (process.getuid?.() !== 0) return [own];
  return [{ user: 'own' }, { user: nobody }, own, { ...own, keepsCapabilities: true }];
}

interface Attempt {
  readonly entry: string;
  readonly isUnrestricted: boolean;
}

interface Answer {
  readonly denied: Readonly<Record<string, boolean>>;
  readonly userId: number | undefined;
}

/** Returns the report of the child, or the reason why none could be started. */
async function tryChild(attempt: Attempt, settings: SpawnSettings) {
  const child = startChild(attempt, settings);
  if (typeof child === 'string') return child;
  const timer = setTimeout(() => child.kill('SIGKILL'), probeLimitMs);
  let answer = '';
  let stderrTail = '';
  child.stdio[channelDescriptor]
    ?.on('error', () => {})
    .on('data', (chunk: Buffer) => {
      answer += chunk.toString('utf8');
    });
  child.stdout?.resume();
  child.stderr?.on('data', (chunk: Buffer) => {
    stderrTail = (stderrTail + chunk.toString('utf8')).slice(-500);
  });
  const failure = await new Promise<string>((resolve) => {
    child.once('error', (cause) => resolve(cause.message)).once('close', () => resolve(stderrTail));
  });
  clearTimeout(timer);
  if (!answer.endsWith('\n')) return failure.trim() || 'it gave no answer';
  // The probe programs are part of the service and run no foreign code.
  return JSON.parse(answer) as Answer;
}

/** Starting throws where the other user does not exist, as in most containers without root. */
function startChild({ entry, isUnrestricted }: Attempt, settings: SpawnSettings) {
  const program = {
    entry: fileURLToPath(new URL(entry, import.meta.url)),
    args: [`${pathToFileURL(folder).href}/`],
    flags: ['--disable-proto=throw', '--max-old-space-size=64'],
    readable: [folder],
    folder,
    limits: { dataMb: mappedAtStartMb + 128, fileMb: 32, descriptors: 64, tasks: 64 },
    memoryMb: 128,
    isUnrestricted,
  };
  try {
    return spawnIsolated(program, settings).process;
  } catch (cause) {
    return `it could not be started: ${cause instanceof Error ? cause.message : String(cause)}`;
  }
}

function describe({ denied, userId }: Answer): Pick<Probe, 'capabilities' | 'denied'> {
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
