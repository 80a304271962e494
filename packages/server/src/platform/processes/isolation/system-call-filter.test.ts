import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { buildSystemCallFilter } from './bubblewrap.ts';

/** Makes system calls by their numbers, in Perl, which every Debian has. Missing arguments are 0. */
async function callUnderFilter(calls: readonly (readonly number[])[], program: Buffer): Promise<number[]> {
  const script = `for (@ARGV) { my ($n, @a) = map { $_ + 0 } split /,/; $! = 0; syscall($n, @a, (0) x (5 - @a)); print $! + 0, "\\n"; }`;
  const perl = ['/usr/bin/perl', '-e', script, ...calls.map((call) => call.join(','))];
  const args = ['--unshare-all', '--ro-bind', '/', '/', '--dev', '/dev', '--seccomp', '4', '--', ...perl];
  const child = spawn('/usr/bin/bwrap', args, { stdio: ['ignore', 'pipe', 'inherit', 'ignore', 'pipe'] });
  // the line above creates it as a pipe
  (child.stdio[4] as Writable).end(program);
  assert.ok(child.stdout !== null);
  const lines = (await text(child.stdout)).trim().split('\n');
  return lines.map(Number);
}

/** The numbers for x64 only, written here again so that an error in the table is found. */
const deniedOnX64 = {
  ...{ ptrace: 101, process_vm_readv: 310, process_vm_writev: 311, kcmp: 312, pidfd_open: 434, pidfd_getfd: 438 },
  ...{ execveat: 322, memfd_create: 319, socket: 41, connect: 42, bind: 49, listen: 50, accept: 43, accept4: 288 },
  ...{ mount: 165, umount2: 166, pivot_root: 155, chroot: 161, move_mount: 429, open_tree: 428, fsopen: 430 },
  ...{ fsconfig: 431, fsmount: 432, fspick: 433, mount_setattr: 442, unshare: 272, setns: 308, bpf: 321 },
  ...{ name_to_handle_at: 303, open_by_handle_at: 304, userfaultfd: 323, io_uring_setup: 425, io_uring_enter: 426 },
  ...{ io_uring_register: 427, perf_event_open: 298, fanotify_init: 300, add_key: 248, request_key: 249, keyctl: 250 },
  ...{ kexec_load: 246, kexec_file_load: 320, init_module: 175, finit_module: 313, delete_module: 176, reboot: 169 },
  ...{ swapon: 167, swapoff: 168, acct: 163, quotactl: 179, syslog: 103, settimeofday: 164, clock_settime: 227 },
  ...{ clock_adjtime: 305, adjtimex: 159, sethostname: 170, setdomainname: 171, iopl: 172, ioperm: 173 },
  ...{ modify_ldt: 154, personality: 135, vhangup: 153, setpriority: 141, fork: 57, vfork: 58 },
};
const onX64 = { skip: process.arch === 'x64' ? false : 'the numbers here are those of x64' };
const [notPermitted, notImplemented, badDescriptor] = [1, 38, 9];

test('each denied system call fails with EPERM', onX64, async () => {
  const filter = buildSystemCallFilter();
  assert.ok(filter !== undefined);
  const errors = await callUnderFilter(
    Object.values(deniedOnX64).map((number) => [number]),
    filter,
  );
  const wrong = Object.keys(deniedOnX64).filter((_, index) => errors[index] !== notPermitted);
  assert.deepEqual(wrong, []);
});

test('clone and ioctl are allowed or denied by their arguments, and the x32 interface is closed', onX64, async () => {
  const filter = buildSystemCallFilter();
  assert.ok(filter !== undefined);
  const [clone, clone3, ioctl, getpid, x32] = [56, 435, 16, 39, 0x40000000];
  const errors = await callUnderFilter(
    [
      [clone, 17],
      [clone, 0x10000000],
      [clone3],
      [ioctl, 99, 0x5412],
      [ioctl, 99, 0x541c],
      [ioctl, 99, 0x5413],
      [x32 + 101],
      [getpid],
    ],
    filter,
  );
  assert.deepEqual(errors, [
    ...[notPermitted, notPermitted, notImplemented, notPermitted, notPermitted],
    ...[badDescriptor, notPermitted, 0],
  ]);
});

test('a filter for another architecture kills the process, so that no wrong table can be used', async () => {
  const other = buildSystemCallFilter(process.arch === 'x64' ? 'arm64' : 'x64');
  assert.ok(other !== undefined);
  assert.deepEqual(await callUnderFilter([[0]], other), [0], 'nothing was printed');
});

test('architectures without a table have no filter', () => {
  assert.equal(buildSystemCallFilter('riscv64'), undefined);
});
