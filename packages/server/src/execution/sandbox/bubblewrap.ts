import { makeSystemCallFilter } from './system-call-filter.ts';

export const bubblewrapPath = '/usr/bin/bwrap';

/** What bubblewrap is told by way of descriptors, beside those of the child. */
export const filterDescriptor = 4;
export const infoDescriptor = 5;

/** Undefined on machines we have no table of system calls for. */
export const systemCallFilter = makeSystemCallFilter();

/** Memory; as much as the largest file may have. */
const scratchBytes = 32 * 1024 * 1024;
/** What the runtime is linked to. A folder that does not exist is left out. */
const libraryFolders = ['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/usr/local/lib'];

/**
 * The command line that puts a program into namespaces of its own: users, processes, mounts, network, IPC, host name.
 * It sees `readable` (files and folders, read-only), the libraries, an empty `/tmp` of 32 MiB, and nothing else: no
 * `/proc`, no `/dev`. It is process 1 of its namespace, holds no capability, and ends with the server.
 */
export function bubblewrapArguments(readable: readonly string[], folder: string): string[] {
  return [
    bubblewrapPath,
    ...['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...['--uid', '65534', '--gid', '65534', '--hostname', 'handler', '--as-pid-1'],
    ...['--die-with-parent', '--new-session', '--clearenv', '--cap-drop', 'ALL'],
    ...libraryFolders.flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--size', String(scratchBytes), '--tmpfs', '/tmp'],
    ...readable.flatMap((path) => ['--ro-bind', path, path]),
    ...['--remount-ro', '/', '--chdir', folder],
    ...['--seccomp', String(filterDescriptor), '--info-fd', String(infoDescriptor), '--'],
  ];
}
