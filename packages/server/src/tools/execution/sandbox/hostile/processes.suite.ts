import { casesOf, type HostileCase, lasting } from './hostile-case.suite.ts';

const cp = `const cp = await need('child_process');`;
const fs = `const fs = await need('fs');`;
const shell = (command: string): string =>
  `${cp} await exited(cp.spawn('/bin/sh', ['-c', ${command}], { stdio: 'ignore' }));`;

/** Attempts on other processes, programs and permissions. */
export const processes: readonly HostileCase[] = casesOf({
  'start a program': shell(`'exit 0'`),
  'start a program and wait': `${cp} must(cp.spawnSync('/bin/true').status === 0);`,
  'start a shell': `${cp} cp.execSync('id');`,
  'start Node.js': `${cp} await exited(cp.spawn(process.execPath ?? input.nodeFile, ['--version']));`,
  'start the dynamic loader': `${cp} await exited(cp.spawn('/lib64/ld-linux-x86-64.so.2', ['--version']));`,
  'start prlimit': `${cp} await exited(cp.spawn('/usr/bin/prlimit', ['--version']));`,
  'fork a Node.js process': `${cp} const file = new URL('fork.mjs', import.meta.url).pathname; await exited(cp.fork(file));`,
  'fork through the cluster module': `const it = await need('cluster'); it.setupPrimary({ exec: new URL('fork.mjs', import.meta.url).pathname }); await exited(it.fork().process);`,
  'become another program': `${cp} const { status } = cp.spawnSync(process.execPath, ['-e', "process.execve('/bin/true', ['true'])"]); must(status === 0);`,
  'write a script and start it': `${fs} ${cp} const file = '/tmp/qm-script-' + process.pid; fs.writeFileSync(file, '#!/bin/sh\\nexit 0\\n', { mode: 0o755 });
      try { must(cp.spawnSync(file).status === 0); } finally { fs.rmSync(file); }`,
  'leave a process behind': lasting`${cp} const it = cp.spawn('/bin/sleep', ['0.2'], { detached: true, stdio: 'ignore' }); await new Promise((yes, no) => it.on('error', no).on('spawn', yes)); it.unref();`,
  'start a hundred processes at once': lasting`${cp} const all = Array.from({ length: 100 }, () => cp.spawn('/bin/sleep', ['1'], { stdio: 'ignore' }));
      const started = await Promise.all(all.map((it) => new Promise((yes) => it.on('error', () => yes(0)).on('spawn', () => yes(1)))));
      for (const it of all) it.kill('SIGKILL');
      must(started.reduce((a, b) => a + b, 0) > 90);`,
  'start a hundred threads at once': {
    body: `const { Worker } = await need('worker_threads'); const all = [];
      for (let i = 0; i < 100; i++) { const it = new Worker('setTimeout(() => {}, 1000)', { eval: true, resourceLimits: { maxOldGenerationSizeMb: 4 } }); all.push(new Promise((yes) => it.on('online', () => yes(1)).on('error', () => yes(0)).on('exit', () => yes(0)))); }
      must((await Promise.all(all)).reduce((a, b) => a + b, 0) > 90);`,
    limits: { timeoutMs: 3_000, memoryMb: 1024 },
    isLasting: true,
  },
  'read in a thread': `const { Worker } = await need('worker_threads'); const it = new Worker("require('fs').readFileSync(" + JSON.stringify(input.neighbourFile) + ')', { eval: true }); await exited(it);`,
  'see other processes': `${fs} must(fs.readdirSync('/proc').filter(Number).length > 1);`,
  "read the server's command line": `${fs} fs.readFileSync('/proc/' + input.serverPid + '/cmdline');`,
  "read the server's environment": `${fs} fs.readFileSync('/proc/' + input.serverPid + '/environ');`,
  "read the server's memory": `${fs} fs.openSync('/proc/' + input.serverPid + '/mem', 'r');`,
  "read the server's memory map": `${fs} fs.readFileSync('/proc/' + input.serverPid + '/maps');`,
  "list the server's descriptors": `${fs} fs.readdirSync('/proc/' + input.serverPid + '/fd');`,
  "reach the server's root": `${fs} fs.readdirSync('/proc/' + input.serverPid + '/root');`,
  "read its parent's status": `${fs} fs.readFileSync('/proc/' + process.ppid + '/status');`,
  'write its own score for the killer of memory': `${fs} fs.writeFileSync('/proc/self/oom_score_adj', '-1000');`,
  'see the id of its parent': `must(process.ppid > 0);`,
  'signal the server': `process.kill(input.serverPid, 0);`,
  'signal its parent': `must(process.ppid > 0); process.kill(process.ppid, 0);`,
  'signal, the inner way': `must(process._kill(input.serverPid, 0) === 0);`,
  "open the server's debugger": `process._debugProcess(input.serverPid); `,
  "change the server's priority": `const os = await need('os'); os.setPriority(input.serverPid, os.getPriority(input.serverPid));`,
  // Raises the priority from the lowest, which any process may set. The tests themselves may run with a higher one.
  'raise its own priority': `const os = await need('os'); os.setPriority(0, 19); os.setPriority(0, 18);`,
  // Sets the lowest priority, which is never above that of the tests.
  'lower its own priority': `const os = await need('os'); os.setPriority(0, 19); must(os.getPriority(0) === 19);`,
  'become root': `process.setuid(0);`,
  'become root for a while': `process.seteuid(0);`,
  'enter the group of root': `process.setgid(0);`,
  'change its groups': `process.setgroups([0]);`,
  'join the groups of a user': `process.initgroups('root', 0);`,
  'run a program that becomes root': `${cp} const { status } = cp.spawnSync('/bin/su', ['-c', 'true'], { timeout: 2000 }); must(status === 0);`,
  'create namespaces': shell(`'unshare --map-root-user true'`),
  'enter the namespaces of process 1': shell(`'nsenter -t 1 -m true'`),
  mount: shell(`'unshare --map-root-user --mount mount -t tmpfs none /tmp'`),
  'change the root folder': shell(`'unshare --map-root-user chroot / true'`),
  'trace itself or others': shell(
    `'command -v strace && strace -p ' + input.serverPid + ' || command -v perl && perl -e "exit(syscall(101, 16, ' + input.serverPid + ', 0, 0) < 0)"'`,
  ),
  'make sockets of another kind': shell(`'perl -e "socket(my \\$s, 16, 3, 0) or exit 1"'`),
  'load a module into the kernel': shell(`'insmod /nothing.ko'`),
  'use performance counters of others': shell(
    `'perl -e "exit(syscall(298, 0, ' + input.serverPid + ', -1, -1, 0) < 0)"'`,
  ),
  'schedule itself in real time': shell(`'chrt -f 1 true'`),
  'see the host name': `must((await need('os')).hostname() !== 'isolated');`,
  'list the users of the machine': `must((await need('fs')).readFileSync('/etc/passwd', 'latin1').includes('root'));`,
  'load a library of the system': `${fs} process.dlopen({ exports: {} }, '/lib/x86_64-linux-gnu/libutil.so.1'); `,
  'call a system library': `const ffi = await need('ffi'); ffi.dlopen('libc.so.6', {}); reach(input, process);`,
  'use WASI to read': `const { WASI } = await need('wasi'); new WASI({ version: 'preview1', preopens: { '/': '/' } }); reach(input, process);`,
});
