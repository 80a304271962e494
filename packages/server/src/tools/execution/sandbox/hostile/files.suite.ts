import type { HostileCase } from './hostile-case.suite.ts';

const fs = `const fs = await need('fs');`;

/** Attempts to read and write forbidden files. */
export const files: readonly HostileCase[] = [
  { does: 'read a file of the system', body: `${fs} fs.readFileSync('/etc/passwd');` },
  { does: 'read the passwords of the system', body: `${fs} fs.readFileSync('/etc/shadow');` },
  { does: 'list the root', body: `${fs} must(fs.readdirSync('/').includes('etc'));` },
  { does: 'list the home of root', body: `${fs} fs.readdirSync('/root');` },
  { does: 'check whether a file exists', body: `${fs} must(fs.existsSync('/etc/hostname'));` },
  { does: 'read a file next to the bundle', body: `${fs} fs.readFileSync(input.canaryFile);` },
  { does: 'read a file of another bundle', body: `${fs} fs.readFileSync(input.neighbourFile);` },
  {
    does: 'read it by a relative path',
    body: `${fs} fs.readFileSync(new URL('../neighbour/canary.json', import.meta.url));`,
  },
  { does: 'list files of another bundle', body: `${fs} fs.readdirSync(new URL('../neighbour/', import.meta.url));` },
  {
    does: 'import a file of another bundle',
    body: `await import('../neighbour/canary.json', { with: { type: 'json' } });`,
  },
  { does: 'import a module of another bundle', body: `await import('../neighbour/run.mjs');` },
  { does: 'import a module of the server', body: `await import(input.serverFile);` },
  { does: "read the server's code", body: `${fs} fs.readFileSync(input.serverFile);` },
  { does: 'read asynchronously', body: `await (await need('fs/promises')).readFile(input.neighbourFile);` },
  { does: 'read as a stream', body: `${fs} for await (const _ of fs.createReadStream(input.neighbourFile));` },
  { does: 'read as a blob', body: `${fs} await (await fs.openAsBlob(input.neighbourFile)).text();` },
  {
    does: 'read by a file descriptor',
    body: `${fs} fs.readvSync(fs.openSync(input.neighbourFile, 'r'), [Buffer.alloc(9)]);`,
  },
  {
    does: 'copy a file into an accessible folder',
    body: `${fs} fs.cpSync(input.neighbourFile, '/tmp/qm-copy-' + process.pid); fs.rmSync('/tmp/qm-copy-' + process.pid);`,
  },
  {
    does: 'read through a symbolic link',
    body: `${fs} const link = '/tmp/qm-link-' + process.pid; fs.symlinkSync(input.neighbourFile, link);
      try { fs.readFileSync(link); } finally { fs.rmSync(link); }`,
  },
  {
    does: 'list through a link to a folder',
    body: `${fs} const link = '/tmp/qm-root-' + process.pid; fs.symlinkSync('/etc', link);
      try { fs.readdirSync(link); } finally { fs.rmSync(link); }`,
  },
  {
    does: 'read through a hard link',
    body: `${fs} const link = input.commons + '/qm-hard-' + process.pid; fs.linkSync(input.neighbourFile, link);
      try { fs.readFileSync(link); } finally { fs.rmSync(link); }`,
  },
  { does: 'read through /proc/self/root', body: `${fs} fs.readFileSync('/proc/self/root' + input.neighbourFile);` },
  { does: 'read through /proc/self/cwd', body: `${fs} fs.readFileSync('/proc/self/cwd/../neighbour/canary.json');` },
  { does: 'read through /proc/thread-self', body: `${fs} fs.readFileSync('/proc/thread-self/root/etc/passwd');` },
  { does: 'follow the links of its descriptors', body: `${fs} must(fs.readdirSync('/proc/self/fd').length > 0);` },
  { does: 'list /dev/fd', body: `${fs} must(fs.readdirSync('/dev/fd').length > 0);` },
  { does: 'read /proc/self', body: `${fs} fs.readFileSync('/proc/self/status');` },
  { does: 'read its own environment from /proc', body: `${fs} fs.readFileSync('/proc/self/environ');` },
  { does: 'read its own memory map', body: `${fs} fs.readFileSync('/proc/self/maps');` },
  { does: 'see what is mounted', body: `${fs} fs.readFileSync('/proc/self/mountinfo');` },
  { does: 'read the messages of the kernel', body: `${fs} fs.openSync('/dev/kmsg', 'r');` },
  { does: 'read the settings of the kernel', body: `${fs} fs.readFileSync('/proc/sys/kernel/hostname');` },
  { does: 'change a setting of the kernel', body: `${fs} fs.writeFileSync('/proc/sys/kernel/hostname', 'x');` },
  { does: 'read /sys', body: `${fs} fs.readdirSync('/sys');` },
  { does: 'open a device', body: `${fs} fs.openSync('/dev/zero', 'r');` },
  { does: 'open a terminal', body: `${fs} fs.openSync('/dev/ptmx', 'r+');` },
  { does: 'open the terminal of the server', body: `${fs} fs.openSync('/dev/tty', 'r+');` },
  {
    does: 'use the shared memory of the machine',
    body: `${fs} fs.writeFileSync('/dev/shm/qm-' + process.pid, ''); fs.rmSync('/dev/shm/qm-' + process.pid);`,
  },
  { does: 'watch a folder', body: `${fs} fs.watch('/etc').close();` },
  { does: 'change its working folder', body: `process.chdir('/'); ${fs} must(fs.readdirSync('.').includes('etc'));` },
  { does: 'load variables from a file', body: `process.loadEnvFile('/etc/os-release'); must(process.env.ID);` },
  {
    does: 'open a database file',
    body: `const { DatabaseSync } = await need('sqlite'); new DatabaseSync(input.commons + '/qm.sqlite').exec('create table a(b)');`,
  },
  {
    does: 'attach a database file from memory',
    body: `const { DatabaseSync } = await need('sqlite'); new DatabaseSync(':memory:').exec("attach '" + input.commons + "/qm2.sqlite' as a; create table a.b(c)");`,
  },
  {
    does: 'write a diagnostic report',
    body: `process.report.directory = input.commons; must(process.report.writeReport());`,
  },
  {
    does: 'read the report of its process',
    body: `must(process.report.getReport().header); ${fs} fs.readFileSync(process.report.getReport().header.cwd + '/../neighbour/canary.json');`,
  },
  { does: 'write a heap snapshot', body: `(await need('v8')).writeHeapSnapshot(input.commons + '/heap');` },
  {
    does: 'write traces of the engine',
    body: `process.chdir(input.commons); const it = (await need('trace_events')).createTracing({ categories: ['v8'] }); it.enable(); it.disable(); ${fs} must(fs.readdirSync(input.commons).length > 0);`,
  },
  { does: 'write to a folder of all users', body: `${fs} fs.writeFileSync(input.commons + '/file', 'planted');` },
  {
    does: 'create folders and write there',
    body: `${fs} fs.mkdirSync(input.commons, { recursive: true }); fs.writeFileSync(input.commons + '/file', 'planted'); throw new Error('seen from outside only');`,
    isLasting: true,
  },
  { does: 'leave a link for other programs', body: `${fs} fs.symlinkSync('/etc/passwd', input.commons + '/link');` },
  {
    does: 'leave a file in /var/tmp',
    body: `${fs} fs.writeFileSync('/var/tmp/qm-' + process.pid, ''); fs.rmSync('/var/tmp/qm-' + process.pid);`,
  },
  { does: 'write into its own bundle', body: `${fs} fs.writeFileSync(new URL('planted.mjs', import.meta.url), '');` },
  {
    does: 'replace its own handler',
    body: `${fs} fs.renameSync(new URL(import.meta.url), new URL('old.mjs', import.meta.url));`,
  },
  { does: 'change the mode of its handler', body: `${fs} fs.chmodSync(new URL(import.meta.url), 0o777);` },
  { does: 'change the runtime of the sandbox', body: `${fs} fs.openSync(input.runtimeFile, 'r+');` },
  { does: 'change the Node that runs it', body: `${fs} fs.openSync(input.nodeFile, 'r+');` },
  { does: 'change the Node that runs it by /proc', body: `${fs} fs.openSync('/proc/self/exe', 'r+');` },
  { does: 'delete a file of another bundle', body: `${fs} fs.rmSync(input.neighbourFile);` },
  { does: 'truncate a file of another bundle', body: `${fs} fs.truncateSync(input.neighbourFile);` },
  {
    does: 'fill the disk',
    body: `${fs} const names = [0, 1, 2].map((it) => '/tmp/qm-fill-' + process.pid + it);
      try { for (const name of names) fs.writeFileSync(name, Buffer.alloc(20 * 2 ** 20)); } finally { for (const name of names) fs.rmSync(name, { force: true }); }`,
  },
  {
    does: 'write a file of more than 32 MiB',
    body: `${fs} const name = '/tmp/qm-large-' + process.pid;
      try { fs.writeFileSync(name, Buffer.alloc(40 * 2 ** 20)); } finally { fs.rmSync(name, { force: true }); }`,
  },
  {
    does: 'hold a hundred files open',
    body: `${fs} for (let i = 0; i < 100; i++) fs.openSync(input.runtimeFile, 'r');`,
    isLasting: true,
  },
];
