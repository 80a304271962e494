import { buildSystemCallFilter } from './system-call-filter.ts';

export const bubblewrapPath = '/usr/bin/bwrap';

/** Undefined on machines we have no table of system calls for. */
export const systemCallFilter = buildSystemCallFilter();

/** What the runtime is linked to. A folder that does not exist is left out. */
const libraryFolders = ['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/usr/local/lib'];

export interface Namespace {
  /** Files and folders that are visible, read-only. */
  readonly readable: readonly string[];
  /** The working folder. */
  readonly folder: string;
  /** Size of `/tmp`, which is memory; 0: there is none. */
  readonly scratchBytes: number;
  /** The descriptor that bubblewrap reads the filter of system calls from. */
  readonly filterDescriptor: number;
  /** The descriptor that bubblewrap writes the process id of its child to. */
  readonly infoDescriptor: number;
}

/**
 * The command line that puts a program into namespaces of its own: users, processes, mounts, network, IPC, host name.
 * It sees `readable`, the libraries, an empty `/tmp` if it has one, and nothing else: no `/proc`, no `/dev`. It is
 * process 1 of its namespace, holds no capability, and ends with the server.
 */
export function bubblewrapArguments(namespace: Namespace): string[] {
  const { readable, folder, scratchBytes, filterDescriptor, infoDescriptor } = namespace;
  return [
    bubblewrapPath,
    ...['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...['--uid', '65534', '--gid', '65534', '--hostname', 'isolated', '--as-pid-1'],
    ...['--die-with-parent', '--new-session', '--clearenv', '--cap-drop', 'ALL'],
    ...libraryFolders.flatMap((path) => ['--ro-bind-try', path, path]),
    ...(scratchBytes > 0 ? ['--size', String(scratchBytes), '--tmpfs', '/tmp'] : []),
    ...readable.flatMap((path) => ['--ro-bind', path, path]),
    ...['--remount-ro', '/', '--chdir', folder],
    ...['--seccomp', String(filterDescriptor), '--info-fd', String(infoDescriptor), '--'],
  ];
}
