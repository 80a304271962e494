import { buildSystemCallFilter } from './system-call-filter.ts';

export const bubblewrapPath = '/usr/bin/bwrap';

/** Undefined on architectures without a table of system calls. */
export const systemCallFilter = buildSystemCallFilter();

/** The folders of the libraries that the runtime links to. A folder that does not exist is left out. */
const libraryFolders = ['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/usr/local/lib'];

export interface Namespace {
  /** Files and folders that are visible, read-only. */
  readonly readable: readonly string[];
  /** The working folder. */
  readonly folder: string;
  /** The variables of the program. Default: none. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The size of `/tmp`, which is held in memory. With 0 there is no `/tmp`. */
  readonly scratchBytes: number;
  /** The descriptor from which bubblewrap reads the system-call filter. */
  readonly filterDescriptor: number;
  /** The descriptor to which bubblewrap writes the process id of its child. */
  readonly infoDescriptor: number;
}

/**
 * The command line that puts a program into namespaces of its own: users, processes, mounts, network, IPC, host name.
 * It sees `readable`, the libraries, an empty `/tmp` if it has one, and nothing else: no `/proc`, no `/dev`. It is
 * process 1 of its namespace, holds no capability, and ends with the server.
 */
export function bubblewrapArguments(namespace: Namespace): string[] {
  const { readable, folder, environment = {}, scratchBytes, filterDescriptor, infoDescriptor } = namespace;
  return [
    bubblewrapPath,
    ...['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...['--uid', '65534', '--gid', '65534', '--hostname', 'isolated', '--as-pid-1'],
    ...['--die-with-parent', '--new-session', '--clearenv', '--cap-drop', 'ALL'],
    ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
    ...libraryFolders.flatMap((path) => ['--ro-bind-try', path, path]),
    ...(scratchBytes > 0 ? ['--size', String(scratchBytes), '--tmpfs', '/tmp'] : []),
    ...readable.flatMap((path) => ['--ro-bind', path, path]),
    ...['--remount-ro', '/', '--chdir', folder],
    ...['--seccomp', String(filterDescriptor), '--info-fd', String(infoDescriptor), '--'],
  ];
}
