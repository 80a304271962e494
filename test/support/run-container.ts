import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { Image } from './container-image.ts';
import type { Ending } from './service.ts';

const run = promisify(execFile);

/** A container in which the service runs as process 1. */
export interface Container {
  /** The id of process 1 on this machine. */
  readonly pid: number;
  /** Returns the output of the service. The service writes its log in batches, so read it after {@link stop}. */
  readonly output: () => string;
  /** Runs a command in the container as its user, like `docker exec`. @throws the error of execFile */
  exec(...command: readonly string[]): Promise<string>;
  /** Sends the signal that stops the container. Returns the exit code. */
  stop(): Promise<number | null>;
}

export interface ContainerRequest {
  /** Settings with the prefix `QUARTERMASTER_`. */
  readonly settings: Readonly<Record<string, string>>;
  /** The folder of this machine that is the volume `/data`. */
  readonly data: string;
  /** A folder of this machine that is `/run/secrets`, read-only. */
  readonly secrets: string;
  /**
   * Makes the kernel refuse user namespaces, as the default profiles of Docker do: it refuses them to a process whose root is not
   * that of its mount namespace.
   */
  readonly withoutUserNamespaces?: boolean;
}

/**
 * Runs an image as the compose file does: the root is read-only, `/data` and `/tmp` are the only places to write to, the user of
 * the image has no capability and can get none. Networks are those of this machine. Returns when both addresses are open.
 */
export async function runContainer(t: Ending, image: Image, request: ContainerRequest): Promise<Container> {
  const { config } = image;
  const environment: Record<string, string> = { ...request.settings };
  for (const entry of config.Env) {
    const [name = '', value = ''] = entry.split(/=(.*)/s);
    environment[name] ??= value;
  }
  const child = spawn('/usr/bin/bwrap', commandLine(image, request, environment), {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env: {},
  });
  let pid = 0;
  t.after(() => {
    // Process 1 survives bubblewrap: `--die-with-parent` ends when setpriv changes the user.
    if (child.exitCode === null && child.signalCode === null && pid !== 0) process.kill(pid, 'SIGKILL');
    child.kill('SIGKILL');
  });
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('both outputs are pipes');
  let output = '';
  stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  pid = await readPid(child);
  for await (const line of createInterface({ input: stdout })) {
    output += `${line}\n`;
    if (line.includes('plugins address')) break;
  }
  stdout.resume();
  if (!output.includes('plugins address')) throw new Error(`the container did not start:\n${output}`);
  return {
    pid,
    output: () => output,
    exec: async (...command) => {
      const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
      const enter = ['--target', String(pid), '--mount', '--pid', '--root', '--wd', '--'];
      const asUser = [...becomeUser(config.User), '--no-new-privs'];
      return (await run('nsenter', [...enter, 'env', '-i', ...variables, ...asUser, ...command])).stdout;
    },
    stop: async () => {
      process.kill(pid, config.StopSignal as NodeJS.Signals);
      const [code] = (await once(child, 'close')) as [number | null];
      return code;
    },
  };
}

function commandLine(
  { config, files }: Image,
  request: ContainerRequest,
  environment: Readonly<Record<string, string>>,
) {
  const { data, secrets, withoutUserNamespaces = false } = request;
  const root = withoutUserNamespaces ? '/mnt' : '';
  return [
    ...['--ro-bind', files, '/', ...(withoutUserNamespaces ? ['--ro-bind', files, root] : [])],
    ...['--dev', `${root}/dev`, '--proc', `${root}/proc`, '--tmpfs', `${root}/tmp`],
    ...['--bind', data, `${root}/data`, '--tmpfs', `${root}/run`, '--ro-bind', secrets, `${root}/run/secrets`],
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--as-pid-1', '--die-with-parent', '--clearenv'],
    ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
    // Only to become the user of the image.
    ...['--cap-drop', 'ALL', '--cap-add', 'CAP_SETUID', '--cap-add', 'CAP_SETGID', '--cap-add', 'CAP_SETPCAP'],
    ...['--cap-add', 'CAP_SYS_CHROOT', '--chdir', `${root}${config.WorkingDir}`, '--info-fd', '3', '--'],
    ...(withoutUserNamespaces ? ['/usr/sbin/chroot', root] : []),
    ...[...becomeUser(config.User), '--bounding-set', '-all', ...config.Entrypoint, ...config.Cmd],
  ];
}

function becomeUser(user: string): string[] {
  const [id = '', group = ''] = user.split(':');
  return ['/usr/bin/setpriv', '--reuid', id, '--regid', group, '--clear-groups'];
}

/** Reads the id of process 1 from the report of bubblewrap. */
async function readPid({ stdio }: ChildProcess): Promise<number> {
  let report = '';
  for await (const text of stdio[3] as NodeJS.ReadableStream) report += text;
  return (JSON.parse(report) as { 'child-pid': number })['child-pid'];
}

/** Reads the properties of a process that the kernel reports, such as `Uid`. */
export async function readStatus(pid: number): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(join('/proc', String(pid), 'status'), 'utf8');
  return new Map(text.split('\n').map((line) => [line.split(':\t')[0] ?? '', line.split(':\t')[1] ?? '']));
}
