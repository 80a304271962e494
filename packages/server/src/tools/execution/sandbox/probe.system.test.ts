import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { isReadableByAll, probeMachine } from '../../../platform/processes/isolation/probe.ts';
import { spawnChild } from './spawn-child.ts';
import { createReadableCopy } from './testing/readable-copy.suite.ts';
import { childrenOf, isRunning, openTestBed, until } from './testing/test-bed.suite.ts';

/**
 * The effects of the command line alone, without the runtime restrictions. `false` means open and is the reason for the runtime restrictions.
 * Change docs/reference/isolation.md together with this table.
 */
const expected: Readonly<Record<string, readonly [denied: boolean, attempt: string]>> = {
  'read a file': [true, 'fs.readFileSync("/etc/passwd")'],
  'stat a file': [true, 'fs.statSync("/etc/passwd")'],
  'list a folder': [true, 'fs.readdirSync("/")'],
  'read its environment': [true, 'fs.readFileSync("/proc/self/environ")'],
  "read the server's environment": [true, 'fs.readFileSync("/proc/" + process.ppid + "/environ")'],
  'read as a blob': [true, '(await fs.openAsBlob("/etc/passwd")).text()'],
  'write a file': [true, 'fs.writeFileSync("written", "")'],
  'make a link': [true, 'fs.symlinkSync("/etc", "link")'],
  'change the folder': [true, 'process.chdir("/")'],
  'connect by TCP': [true, 'dial(9, "127.0.0.1")'],
  'connect to an abstract socket': [true, 'dial("\\0nothing")'],
  'listen by TCP': [true, 'listen(0)'],
  'listen on an abstract socket': [true, 'listen("\\0quartermaster-test")'],
  'bind by UDP': [true, 'bind()'],
  'look up a name': [true, '(await import("node:dns/promises")).lookup("localhost")'],
  'ask a name server': [true, '(await import("node:dns/promises")).resolve4("localhost")'],
  fetch: [true, 'fetch("http://127.0.0.1:49151").catch((cause) => { throw cause.cause })'],
  'start a program': [true, '(await import("node:child_process")).execSync("id")'],
  'become a program': [true, 'process.execve("/bin/true", ["true"], {})'],
  'start a worker': [true, 'new (await import("node:worker_threads")).Worker("1", { eval: true })'],
  'open the inspector': [true, '(await import("node:inspector")).open(0)'],
  'connect to the inspector': [true, 'new (await import("node:inspector")).Session().connect()'],
  'load native code': [true, 'process.dlopen({ exports: {} }, "/lib/x86_64-linux-gnu/libc.so.6")'],
  'load a library by FFI': [true, '(await import("node:ffi")).dlopen("libc.so.6", {})'],
  'use WASI': [true, 'new (await import("node:wasi")).WASI({ version: "preview1", preopens: { "/": "/" } })'],
  'use SQLite': [true, 'import("node:sqlite")'],
  'use bindings': [true, 'process.binding("fs")'],
  'write a heap snapshot': [true, '(await import("node:v8")).writeHeapSnapshot("snapshot")'],
  'write a report': [true, 'process.report.writeReport("report")'],
  'use new Function': [true, 'new Function("return 1")'],
  'signal the server': [false, 'process.kill(process.ppid, 0)'],
  'set the priority of the server': [false, 'os.setPriority(process.ppid, os.getPriority(process.ppid))'],
  'run code from text by vm': [false, '(await import("node:vm")).runInThisContext("1")'],
  'run code from a data: URL': [false, 'import("data:text/javascript,1")'],
  'set flags of V8': [false, '(await import("node:v8")).setFlagsFromString("--stack-size=900")'],
  'compile WebAssembly': [false, 'new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0))'],
};

const source = (attempts: Readonly<Record<string, string>>): string => `
  import fs from 'node:fs'; import net from 'node:net'; import os from 'node:os'; import dgram from 'node:dgram';
  const dial = (...to) => new Promise((yes, no) => net.connect(...to).on('error', no).on('connect', yes));
  const listen = (at) => new Promise((yes, no) => net.createServer().on('error', no).listen(at, yes));
  const bind = () => new Promise((yes, no) => dgram.createSocket('udp4').on('error', no).bind(0, '127.0.0.1', yes));
  const denied = {};
  const codes = ['ERR_ACCESS_DENIED', 'ERR_DLOPEN_DISABLED', 'ERR_UNKNOWN_BUILTIN_MODULE', 'EPERM'];
  const attempt = async (name, make) => {
    try { await make(); denied[name] = false; }
    catch (cause) { denied[name] = codes.includes(cause?.code) || cause?.info?.code === 'EPERM' || cause instanceof EvalError ? true : String(cause); }
  };
  ${Object.entries(attempts)
    .map(([name, body]) => `await attempt(${JSON.stringify(name)}, async () => ${body});`)
    .join('\n')}
  new net.Socket({ fd: 3 }).end(JSON.stringify(denied), () => process.exit());`;

test('the command line of a child denies what the table lists', async () => {
  await using bed = await openTestBed();
  const { settings } = await probeMachine();
  const attempts = Object.fromEntries(Object.entries(expected).map(([name, [, body]]) => [name, body]));
  await bed.addBundle('tries', { 'tries.mjs': source(attempts) });
  const bundleFolder = join(bed.folder, 'tries');
  const { process: child } = spawnChild(
    { bundleFolder, memoryMb: 256, entry: join(bundleFolder, 'tries.mjs') },
    settings,
  );
  const channel = child.stdio[3];
  assert.ok(channel !== null && channel !== undefined && 'read' in channel);
  const [answer, stderr] = await Promise.all([text(channel), child.stderr === null ? '' : text(child.stderr)]);
  assert.ok(answer.startsWith('{'), stderr);
  const denied = Object.fromEntries(Object.entries(expected).map(([name, [isDenied]]) => [name, isDenied]));
  // A child that runs as another user cannot do these either.
  const other =
    settings.user === undefined ? {} : { 'signal the server': true, 'set the priority of the server': true };
  assert.deepEqual(JSON.parse(answer), { ...denied, ...other });
});

test('the probe finds every restriction active', async () => {
  const { capabilities, denied } = await probeMachine();
  const separateUser = process.getuid?.() === 0 && (await isReadableByAll(import.meta.dirname));
  assert.deepEqual(capabilities, { permissions: true, networkDenied: true, separateUser });
  assert.deepEqual(
    Object.keys(denied).filter((name) => denied[name] !== true),
    [],
  );
});

test('a folder that other users cannot traverse does not count as readable by all users', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-probe-'));
  await chmod(folder, 0o755);
  await mkdir(join(folder, 'closed', 'inner'), { recursive: true });
  await writeFile(join(folder, 'closed', 'inner', 'file'), '');
  assert.equal(await isReadableByAll(join(folder, 'closed', 'inner', 'file')), await isReadableByAll(tmpdir()));
  await chmod(join(folder, 'closed'), 0o700);
  assert.equal(await isReadableByAll(join(folder, 'closed', 'inner', 'file')), false);
  await rm(folder, { recursive: true });
});

const urlHere = (path: string): string => JSON.stringify(new URL(`../../../${path}`, import.meta.url).href);
const server = (folder: string, url = urlHere): string => `
  import { createAdmission } from ${url('platform/admission/admission.ts')};
  import { createLogger } from ${url('platform/log/logger.ts')};
  import { createMetrics } from ${url('platform/metrics.ts')};
  import { openSandbox } from ${url('tools/execution/sandbox/open-sandbox.ts')};
  const sandbox = await openSandbox({ admission: createAdmission(), maxChildrenPerBundle: 2, memoryBudgetMb: 1_280, queueLength: 9, idleMs: 60000,
    recycleAfterRuns: 9, logger: createLogger('silent'), metrics: createMetrics() });
  const limits = { timeoutMs: 60000, memoryMb: 256, cpuMs: 60000, maxOutputBytes: 1000, maxRequests: 0 };
  const run = (input) => sandbox.run({ bundleId: 'a', bundleFolder: ${JSON.stringify(folder)}, handlerPath: 'run.mjs',
    input, limits, onFetch: () => {}, onLog: () => console.log('spinning'), onProgress: () => {},
    isolation: process.argv.includes('sandbox') ? 'sandbox' : 'process' }, new AbortController().signal);
  console.log(JSON.stringify({ outcome: await run({}), capabilities: sandbox.capabilities, uid: process.getuid() }));
  if (process.argv.includes('spin')) await run({ spin: true });
  await sandbox.close();`;
const spinning = `export const run = (input, context) => { context.log('begun'); while (input.spin); return 'well'; };`;

for (const tier of ['process', 'sandbox']) {
  test(`as an ordinary user everything works in a ${tier} except the separate user`, async (t) => {
    const { node, url } = await createReadableCopy(t);
    await using bed = await openTestBed();
    await bed.addBundle('a', { 'run.mjs': spinning });
    const ordinary = process.getuid?.() === 0 ? { uid: 1000, gid: 1000 } : {};
    const args = ['--input-type=module', '--eval', server(join(bed.folder, 'a'), url), tier];
    const child = spawn(node, args, { env: {}, cwd: '/', stdio: ['ignore', 'pipe', 'inherit'], ...ordinary });
    const report = JSON.parse((await text(child.stdout)).split('\n').find((line) => line.startsWith('{')) ?? '{}');
    assert.deepEqual(report.outcome, { kind: 'returned', output: 'well' });
    const sandbox = { available: true };
    const cgroup = { available: false, missing: 'switched off' };
    assert.deepEqual(report.capabilities, {
      permissions: true,
      networkDenied: true,
      separateUser: false,
      sandbox,
      cgroup,
    });
    assert.notEqual(report.uid, 0);
  });
}

for (const tier of ['process', 'sandbox']) {
  test(`children in a ${tier} end when the server is killed, even one in an endless loop`, async () => {
    await using bed = await openTestBed();
    await bed.addBundle('a', { 'run.mjs': spinning });
    const args = ['--input-type=module', '--eval', server(join(bed.folder, 'a')), 'spin', tier];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    await until('the handler spins', () => output.split('spinning').length > 2);
    const started = childrenOf(child.pid ?? 0);
    const pids = [...started, ...started.flatMap(childrenOf)];
    assert.ok(pids.length > 0);
    child.kill('SIGKILL');
    await until('the children are gone', () => !pids.some(isRunning));
  });
}
