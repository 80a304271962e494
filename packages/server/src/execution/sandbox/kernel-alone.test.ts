import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { isReadableByAll, probeMachine, probeSandbox } from './probe.ts';
import { type SpawnSettings, spawnChild } from './spawn-child.ts';
import { openTestBed, type TestBed, until } from './test-bed.ts';

/**
 * What each tier contains when all that Node does is gone: no permission model, no seat belt, a program that may call
 * every function of Node. `true` is contained. In T1 the rest is open to whoever gets past Node; in T2 the kernel
 * remains. When this table changes, so does docs/reference/isolation.md.
 */
const attempts: Readonly<Record<string, readonly [process: boolean, sandbox: boolean, attempt: string]>> = {
  // Files.
  'read a file of the system': [false, true, 'fs.readFileSync("/etc/passwd")'],
  'list the root': [false, true, 'fs.readdirSync("/").includes("etc") || fail()'],
  'read a file beside the bundle': [false, true, 'fs.readFileSync("../canary.txt")'],
  "list another bundle's files": [false, true, 'fs.readdirSync("../neighbour")'],
  "read the server's code": [false, true, 'fs.readFileSync(input.serverFile)'],
  'read /proc/self': [false, true, 'fs.readFileSync("/proc/self/status")'],
  'see other processes': [false, true, 'fs.readdirSync("/proc").filter(Number).length > 1 || fail()'],
  "read the server's command line": [false, true, 'fs.readFileSync("/proc/" + input.server + "/cmdline")'],
  'see what is mounted': [false, true, 'fs.readFileSync("/proc/self/mountinfo")'],
  'use a device': [false, true, 'fs.openSync("/dev/null", "w")'],
  'open a terminal': [false, true, 'fs.openSync("/dev/ptmx", "r+")'],
  'read /sys': [false, true, 'fs.readdirSync("/sys")'],
  'fill the disk': [
    false,
    true,
    'fs.writeFileSync("/tmp/qm-" + process.pid, Buffer.alloc(40 * 2 ** 20)); fs.rmSync("/tmp/qm-" + process.pid)',
  ],
  'leave a file for others': [
    false,
    true,
    'fs.writeFileSync("/var/tmp/qm-" + process.pid, ""); fs.rmSync("/var/tmp/qm-" + process.pid)',
  ],
  'leave by a link': [
    false,
    true,
    'fs.symlinkSync("/etc", "/tmp/qm-link"); try { fs.readdirSync("/tmp/qm-link/ssl") } finally { fs.rmSync("/tmp/qm-link") }',
  ],
  'change the bundle': [true, true, 'fs.writeFileSync("planted.mjs", "")'],
  'change the runtime': [true, true, 'fs.openSync(input.runtimeFile, "r+")'],
  'change its program': [true, true, 'fs.openSync(process.execPath, "r+")'],
  // Network.
  'connect to a server of this machine': [false, true, 'await dial({ port: input.port, host: "127.0.0.1" })'],
  'connect by IPv6': [false, true, 'await dial({ port: input.port, host: "::ffff:127.0.0.1" })'],
  'connect to an abstract socket': [false, true, 'await dial({ path: input.abstract })'],
  'listen by TCP': [false, true, 'await listen({ port: 0, host: "127.0.0.1" })'],
  'listen on a socket in a folder': [false, true, 'await listen({ path: "/tmp/qm-" + process.pid })'],
  'send a datagram': [false, true, 'await datagram(input.datagrams)'],
  'see network interfaces': [false, true, 'Object.keys(os.networkInterfaces()).length > 0 || fail()'],
  fetch: [
    false,
    true,
    'await fetch("http://127.0.0.1:" + input.port, { signal: AbortSignal.timeout(5000) }).catch((e) => { if (!/^(?:HPE_|UND_ERR_SOCKET)/.test(e.cause?.code)) throw e })',
  ],
  'look up a host of the machine': [false, true, 'await dns.lookup("localhost")'],
  'open the inspector': [
    false,
    true,
    'inspector.open(0, "127.0.0.1"); try { inspector.url() ?? fail() } finally { inspector.close() }',
  ],
  // Processes.
  'start a program': [false, true, 'run("/bin/sh", ["-c", "exit 0"])'],
  'start Node again': [false, true, 'run(process.execPath, ["--version"])'],
  'start the loader': [false, true, 'run("/lib64/ld-linux-x86-64.so.2", ["--version"])'],
  'fork a Node': [
    false,
    true,
    'await new Promise((yes, no) => cp.fork("./fork.mjs").on("error", no).on("exit", (c) => c === 0 ? yes() : no(new Error("exit"))))',
  ],
  'become another program': [false, true, 'run(process.execPath, ["-e", "process.execve(\'/bin/true\')"])'],
  'see who its parent is': [false, true, 'process.ppid > 0 || fail()'],
  'see the host name': [false, true, 'os.hostname() !== "handler" || fail()'],
  'learn the users of the machine': [false, true, 'os.userInfo()'],
  'set a priority': [false, true, 'os.setPriority(0, 5); os.setPriority(0, 5)'],
  'become root': [true, true, 'process.setuid(0)'],
  'change its groups': [true, true, 'process.setgroups([0])'],
};

const source = (names: Readonly<Record<string, string>>): string => `
  import fs from 'node:fs'; import net from 'node:net'; import os from 'node:os'; import dgram from 'node:dgram';
  import cp from 'node:child_process'; import inspector from 'node:inspector'; import dns from 'node:dns/promises';
  const input = JSON.parse(fs.readFileSync('input.json', 'utf8'));
  const fail = () => { throw new Error('nothing there'); };
  const run = (...command) => { const { error, status } = cp.spawnSync(...command); if (error) throw error; if (status !== 0) fail(); };
  const dial = (to) => new Promise((yes, no) => { const it = net.connect(to).on('error', no).on('connect', () => { it.destroy(); yes(); }); });
  const listen = (at) => new Promise((yes, no) => { const it = net.createServer().on('error', no).listen(at, () => it.close(yes)); });
  const datagram = (port) => new Promise((yes, no) => { const it = dgram.createSocket('udp4').on('error', no); it.send('canary', port, '127.0.0.1', (e) => { it.close(); e ? no(e) : yes(); }); });
  const contained = {};
  const attempt = async (name, make) => {
    try { await make(); contained[name] = false; } catch { contained[name] = true; }
  };
  ${Object.entries(names)
    .map(([name, body]) => `await attempt(${JSON.stringify(name)}, async () => { ${body} });`)
    .join('\n')}
  new net.Socket({ fd: 3 }).end(JSON.stringify(contained), () => process.exit());`;

let bed: TestBed;
const tcp = createServer((socket) => socket.on('error', () => {}).end());
const abstract = createServer((socket) => socket.on('error', () => {}).end());
const udp = createSocket('udp4');
const abstractName = `\0quartermaster-test-${process.pid}`;
const heard: string[] = [];

before(async () => {
  bed = await openTestBed();
  await bed.addBundle('neighbour', { 'run.mjs': '' });
  await writeFile(join(bed.folder, 'canary.txt'), 'canary');
  await Promise.all([once(tcp.listen(0, '127.0.0.1'), 'listening'), once(abstract.listen(abstractName), 'listening')]);
  await once(udp.bind(0, '127.0.0.1'), 'listening');
  udp.on('message', (message) => void heard.push(message.toString()));
});
after(async () => {
  for (const server of [tcp, abstract]) server.close();
  udp.close();
  await bed[Symbol.asyncDispose]();
});

async function tryAll(bundleId: string, settings: SpawnSettings): Promise<Readonly<Record<string, boolean>>> {
  const bodies = Object.fromEntries(Object.entries(attempts).map(([name, [, , body]]) => [name, body]));
  const address = tcp.address();
  assert.ok(address !== null && typeof address === 'object');
  const input = {
    port: address.port,
    ...{ abstract: abstractName, datagrams: udp.address().port, server: process.pid },
    serverFile: join(import.meta.dirname, 'open-sandbox.ts'),
    runtimeFile: join(import.meta.dirname, 'child.ts'),
  };
  const files = { 'tries.mjs': source(bodies), 'fork.mjs': 'process.exit(0)', 'input.json': JSON.stringify(input) };
  await bed.addBundle(bundleId, files);
  const bundleFolder = join(bed.folder, bundleId);
  const plan = { bundleFolder, memoryMb: 512, entry: join(bundleFolder, 'tries.mjs'), isUnrestricted: true as const };
  const { process: child } = spawnChild(plan, settings);
  const channel = child.stdio[3];
  assert.ok(channel !== null && channel !== undefined && 'read' in channel);
  const [answer, complaint] = await Promise.all([text(channel), child.stderr === null ? '' : text(child.stderr)]);
  assert.ok(answer.startsWith('{'), complaint);
  return JSON.parse(answer);
}

function expected(column: 0 | 1): Readonly<Record<string, boolean>> {
  return Object.fromEntries(Object.entries(attempts).map(([name, row]) => [name, row[column]]));
}

test('in a sandbox the kernel alone contains what Node does not', async () => {
  const { settings } = await probeSandbox();
  assert.ok(settings !== undefined, 'this machine has bubblewrap');
  assert.deepEqual(await tryAll('sandboxed', settings), expected(1));
  assert.deepEqual(heard, []);
});

test('without a sandbox it does not: each attempt is a real one', async () => {
  const { settings } = await probeMachine();
  assert.deepEqual(await tryAll('open', settings), expected(0));
});

test('as an ordinary user a sandbox contains the same', async (t) => {
  if (!(await isReadableByAll(import.meta.dirname))) return t.diagnostic('other users cannot read this checkout');
  const { settings } = await probeSandbox();
  assert.ok(settings !== undefined, 'this machine has bubblewrap');
  const ordinary = process.getuid?.() === 0 ? { ...settings, userId: 1000 } : settings;
  assert.deepEqual(await tryAll('ordinary', ordinary), expected(1));
});

test('a sandboxed child has its streams and its channel, and no file of the server', async () => {
  const { settings } = await probeSandbox();
  assert.ok(settings !== undefined, 'this machine has bubblewrap');
  await bed.addBundle('waiting', {
    'wait.mjs': `import net from 'node:net'; new net.Socket({ fd: 3 }).on('data', () => {}).write('up');`,
  });
  const bundleFolder = join(bed.folder, 'waiting');
  const plan = { bundleFolder, memoryMb: 256, entry: join(bundleFolder, 'wait.mjs'), isUnrestricted: true as const };
  await using file = await open(join(bed.folder, 'canary.txt'));
  const child = spawnChild(plan, settings);
  const channel = child.process.stdio[3];
  assert.ok(file.fd > 0 && channel !== null && channel !== undefined && 'read' in channel);
  await once(channel, 'data');
  const folder = `/proc/${child.pid()}/fd`;
  const targets = readdirSync(folder).map((fd) => [Number(fd), readlinkSync(`${folder}/${fd}`)] as const);
  const sockets = targets.filter(([, target]) => target.startsWith('socket:')).map(([fd]) => fd);
  const files = targets.filter(([, target]) => target.startsWith('/')).map(([, target]) => target);
  child.process.kill('SIGKILL');
  await once(child.process, 'close');
  assert.deepEqual(sockets, [1, 2, 3]);
  // The root is the sandbox's own: it was opened by the runtime, after the start.
  assert.deepEqual([...new Set(files)].toSorted(), ['/', '/dev/null']);
});

test('a sandboxed child ends with the one that started it', async () => {
  await bed.addBundle('spinning', { 'run.mjs': 'export const run = () => { for (;;); };' });
  const outcome = bed.run('spinning', { isolation: 'sandbox', limits: { timeoutMs: 200 } });
  assert.equal((await outcome).kind, 'timed_out');
  await until('nothing of it is left', () => !programsRunning().some((line) => line.includes('/spinning')));
});

function programsRunning(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
      } catch {
        return '';
      }
    });
}
