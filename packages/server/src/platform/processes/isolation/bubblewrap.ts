export const bubblewrapPath = '/usr/bin/bwrap';

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

/**
 * A seccomp filter as classic BPF. It is generated here so that nothing must be compiled or shipped as a binary. It is
 * a deny list: a listed call fails with EPERM, every other call is allowed. Source of the numbers: `asm/unistd_64.h` of
 * Linux 6.1 for x64, `asm-generic/unistd.h` for arm64.
 */

type Numbers = readonly [x64: number | null, arm64: number | null];

/** System calls that a handler's process never needs, grouped by purpose. */
const denied: Readonly<Record<string, Numbers>> = {
  // Memory and files of other processes.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  kcmp: [312, 272],
  pidfd_open: [434, 434],
  pidfd_getfd: [438, 438],
  pidfd_send_signal: [424, 424],
  // New processes, and programs from memory. Threads are allowed: see the check of `clone`.
  fork: [57, null],
  vfork: [58, null],
  execveat: [322, 281],
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  // Sockets of any kind: the channel to the host is open already.
  socket: [41, 198],
  connect: [42, 203],
  bind: [49, 200],
  listen: [50, 201],
  accept: [43, 202],
  accept4: [288, 242],
  // Mounts and namespaces.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  move_mount: [429, 429],
  open_tree: [428, 428],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  unshare: [272, 97],
  setns: [308, 268],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  // Kernel features with a history of vulnerabilities.
  bpf: [321, 280],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  perf_event_open: [298, 241],
  fanotify_init: [300, 262],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  landlock_create_ruleset: [444, 444],
  // Control of the machine.
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  syslog: [103, 116],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  iopl: [172, null],
  ioperm: [173, null],
  modify_ldt: [154, null],
  personality: [135, 92],
  vhangup: [153, 58],
  setpriority: [141, 140],
  sched_setscheduler: [144, 119],
  sched_setattr: [314, 274],
  ioprio_set: [251, 30],
};

/** These calls are allowed or denied by their arguments. */
const clone: Numbers = [56, 220];
const clone3: Numbers = [435, 435];
const ioctl: Numbers = [16, 29];

const machines = {
  x64: { audit: 0xc000003e, column: 0 },
  arm64: { audit: 0xc00000b7, column: 1 },
} as const;

const [loadWord, jumpIfEqual, jumpIfAbove, jumpIfSet, returnAction] = [0x20, 0x15, 0x35, 0x45, 0x06];
const [allow, fail, kill] = [0x7fff0000, 0x00050000, 0x80000000];
const [notPermitted, notImplemented] = [1, 38];
/** Offsets in `struct seccomp_data`; arguments are 64 bits wide, the low word first on both machines. */
const [callNumber, machine, firstArgument, secondArgument] = [0, 4, 16, 24];
const cloneThread = 0x00010000;
/** Calls of the x32 interface have this bit: the same functions by other numbers. */
const x32Bit = 0x40000000;
/** Requests that insert characters into a terminal's input: TIOCSTI, TIOCLINUX. */
const terminalInjections = [0x5412, 0x541c];

/** Returns the program for bubblewrap's `--seccomp`; undefined for an architecture without a table. */
export function buildSystemCallFilter(architecture: string = process.arch): Buffer | undefined {
  if (architecture !== 'x64' && architecture !== 'arm64') return undefined;
  const { audit, column } = machines[architecture];
  const deny = (number: number, error: number) => [
    instruction(jumpIfEqual, number, [0, 1]),
    instruction(returnAction, fail | error),
  ];
  const numbers = Object.values(denied).flatMap((entry) => entry[column] ?? []);
  return Buffer.concat([
    instruction(loadWord, machine),
    instruction(jumpIfEqual, audit, [1, 0]),
    instruction(returnAction, kill),
    instruction(loadWord, callNumber),
    instruction(jumpIfAbove, x32Bit, [0, 1]),
    instruction(returnAction, fail | notPermitted),
    ...numbers.flatMap((number: number) => deny(number, notPermitted)),
    // The C library then falls back to `clone`, whose flags the filter can inspect.
    ...deny(clone3[column] ?? 0, notImplemented),
    ...whenCalled(clone[column] ?? 0, [
      instruction(loadWord, firstArgument),
      instruction(jumpIfSet, cloneThread, [1, 0]),
      instruction(returnAction, fail | notPermitted),
      instruction(returnAction, allow),
    ]),
    ...whenCalled(ioctl[column] ?? 0, [
      instruction(loadWord, secondArgument),
      ...terminalInjections.flatMap((request) => deny(request, notPermitted)),
      instruction(returnAction, allow),
    ]),
    instruction(returnAction, allow),
  ]);
}

/** Skips the instructions when another system call is made. */
function whenCalled(number: number, instructions: readonly Buffer[]): Buffer[] {
  return [instruction(jumpIfEqual, number, [0, instructions.length]), ...instructions];
}

/** `struct sock_filter`. Jumps count the instructions to skip: when it holds, and when not. */
function instruction(code: number, value: number, [whenTrue, whenFalse]: readonly [number, number] = [0, 0]): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(whenTrue, 2);
  bytes.writeUInt8(whenFalse, 3);
  bytes.writeUInt32LE(value >>> 0, 4);
  return bytes;
}

/** Undefined on architectures without a table of system calls. */
export const systemCallFilter = buildSystemCallFilter();
