import type { HostileCase } from './hostile-case.suite.ts';

const cp = `const cp = await need('child_process');`;
const fs = `const fs = await need('fs');`;
const shell = (command: string): string =>
  `${cp} await exited(cp.spawn('/bin/sh', ['-c', ${command}], { stdio: 'ignore' }));`;

/** Attempts on other processes, programs and permissions. */
export const processes: readonly HostileCase[] = [
  { does: 'start a program', body: shell(`'exit 0'`) },
  { does: 'start a program and wait', body: `${cp} must(cp.spawnSync('/bin/true').status === 0);` },
  { does: 'start a shell', body: `${cp} cp.execSync('id');` },
  { does: 'start Node.js', body: `${cp} await exited(cp.spawn(process.execPath ?? input.nodeFile, ['--version']));` },
  {
    does: 'start the dynamic loader',
    body: `${cp} await exited(cp.spawn('/lib64/ld-linux-x86-64.so.2', ['--version']));`,
  },
  { does: 'start prlimit', body: `${cp} await exited(cp.spawn('/usr/bin/prlimit', ['--version']));` },
  {
    does: 'fork a Node.js process',
    body: `${cp} const file = new URL('fork.mjs', import.meta.url).pathname; await exited(cp.fork(file));`,
  },
  {
    does: 'fork through the cluster module',
    body: `const it = await need('cluster'); it.setupPrimary({ exec: new URL('fork.mjs', import.meta.url).pathname }); await exited(it.fork().process);`,
  },
  {
    does: 'become another program',
    body: `${cp} const { status } = cp.spawnSync(process.execPath, ['-e', "process.execve('/bin/true', ['true'])"]); must(status === 0);`,
  },
  {
    does: 'write a script and start it',
    body: `${fs} ${cp} const file = '/tmp/qm-script-' + process.pid; fs.writeFileSync(file, '#!/bin/sh\\nexit 0\\n', { mode: 0o755 });
      try { must(cp.spawnSync(file).status === 0); } finally { fs.rmSync(file); }`,
  },
  {
    does: 'leave a process behind',
    body: `${cp} const it = cp.spawn('/bin/sleep', ['0.2'], { detached: true, stdio: 'ignore' }); await new Promise((yes, no) => it.on('error', no).on('spawn', yes)); it.unref();`,
    isLasting: true,
  },
  {
    does: 'start a hundred processes at once',
    body: `${cp} const all = Array.from({ length: 100 }, () => cp.spawn('/bin/sleep', ['1'], { stdio: 'ignore' }));
      const started = await Promise.all(all.map((it) => new Promise((yes) => it.on('error', () => yes(0)).on('spawn', () => yes(1)))));
      for (const it of all) it.kill('SIGKILL');
      must(started.reduce((a, b) => a + b, 0) > 90);`,
    isLasting: true,
  },
  {
    does: 'start a hundred threads at once',
    body: `const { Worker } = await need('worker_threads'); const all = [];
      for (let i = 0; i < 100; i++) { const it = new Worker('setTimeout(() => {}, 1000)', { eval: true, resourceLimits: { maxOldGenerationSizeMb: 4 } }); all.push(new Promise((yes) => it.on('online', () => yes(1)).on('error', () => yes(0)).on('exit', () => yes(0)))); }
      must((await Promise.all(all)).reduce((a, b) => a + b, 0) > 90);`,
    limits: { timeoutMs: 3_000, memoryMb: 1024 },
    isLasting: true,
  },
  {
    does: 'read in a thread',
    body: `const { Worker } = await need('worker_threads'); const it = new Worker("require('fs').readFileSync(" + JSON.stringify(input.neighbourFile) + ')', { eval: true }); await exited(it);`,
  },
  { does: 'see other processes', body: `${fs} must(fs.readdirSync('/proc').filter(Number).length > 1);` },
  { does: "read the server's command line", body: `${fs} fs.readFileSync('/proc/' + input.serverPid + '/cmdline');` },
  { does: "read the server's environment", body: `${fs} fs.readFileSync('/proc/' + input.serverPid + '/environ');` },
  { does: "read the server's memory", body: `${fs} fs.openSync('/proc/' + input.serverPid + '/mem', 'r');` },
  { does: "read the server's memory map", body: `${fs} fs.readFileSync('/proc/' + input.serverPid + '/maps');` },
  { does: "list the server's descriptors", body: `${fs} fs.readdirSync('/proc/' + input.serverPid + '/fd');` },
  { does: "reach the server's root", body: `${fs} fs.readdirSync('/proc/' + input.serverPid + '/root');` },
  { does: "read its parent's status", body: `${fs} fs.readFileSync('/proc/' + process.ppid + '/status');` },
  {
    does: 'write its own score for the killer of memory',
    body: `${fs} fs.writeFileSync('/proc/self/oom_score_adj', '-1000');`,
  },
  { does: 'see the id of its parent', body: `must(process.ppid > 0);` },
  { does: 'signal the server', body: `process.kill(input.serverPid, 0);` },
  { does: 'signal its parent', body: `must(process.ppid > 0); process.kill(process.ppid, 0);` },
  { does: 'signal, the inner way', body: `must(process._kill(input.serverPid, 0) === 0);` },
  { does: "open the server's debugger", body: `process._debugProcess(input.serverPid); ` },
  {
    does: "change the server's priority",
    body: `const os = await need('os'); os.setPriority(input.serverPid, os.getPriority(input.serverPid));`,
  },
  {
    does: 'raise its own priority',
    // Raises the priority from the lowest, which any process may set. The tests themselves may run with a higher one.
    body: `const os = await need('os'); os.setPriority(0, 19); os.setPriority(0, 18);`,
  },
  {
    does: 'lower its own priority',
    // Sets the lowest priority, which is never above that of the tests.
    body: `const os = await need('os'); os.setPriority(0, 19); must(os.getPriority(0) === 19);`,
  },
  { does: 'become root', body: `process.setuid(0);` },
  { does: 'become root for a while', body: `process.seteuid(0);` },
  { does: 'enter the group of root', body: `process.setgid(0);` },
  { does: 'change its groups', body: `process.setgroups([0]);` },
  { does: 'join the groups of a user', body: `process.initgroups('root', 0);` },
  {
    does: 'run a program that becomes root',
    body: `${cp} const { status } = cp.spawnSync('/bin/su', ['-c', 'true'], { timeout: 2000 }); must(status === 0);`,
  },
  { does: 'create namespaces', body: shell(`'unshare --map-root-user true'`) },
  { does: 'enter the namespaces of process 1', body: shell(`'nsenter -t 1 -m true'`) },
  { does: 'mount', body: shell(`'unshare --map-root-user --mount mount -t tmpfs none /tmp'`) },
  { does: 'change the root folder', body: shell(`'unshare --map-root-user chroot / true'`) },
  {
    does: 'trace itself or others',
    body: shell(
      `'command -v strace && strace -p ' + input.serverPid + ' || command -v perl && perl -e "exit(syscall(101, 16, ' + input.serverPid + ', 0, 0) < 0)"'`,
    ),
  },
  { does: 'make sockets of another kind', body: shell(`'perl -e "socket(my \\$s, 16, 3, 0) or exit 1"'`) },
  { does: 'load a module into the kernel', body: shell(`'insmod /nothing.ko'`) },
  {
    does: 'use performance counters of others',
    body: shell(`'perl -e "exit(syscall(298, 0, ' + input.serverPid + ', -1, -1, 0) < 0)"'`),
  },
  { does: 'schedule itself in real time', body: shell(`'chrt -f 1 true'`) },
  { does: 'see the host name', body: `must((await need('os')).hostname() !== 'isolated');` },
  {
    does: 'list the users of the machine',
    body: `must((await need('fs')).readFileSync('/etc/passwd', 'latin1').includes('root'));`,
  },
  {
    does: 'load a library of the system',
    body: `${fs} process.dlopen({ exports: {} }, '/lib/x86_64-linux-gnu/libutil.so.1'); `,
  },
  {
    does: 'call a system library',
    body: `const ffi = await need('ffi'); ffi.dlopen('libc.so.6', {}); reach(input, process);`,
  },
  {
    does: 'use WASI to read',
    body: `const { WASI } = await need('wasi'); new WASI({ version: 'preview1', preopens: { '/': '/' } }); reach(input, process);`,
  },
];
