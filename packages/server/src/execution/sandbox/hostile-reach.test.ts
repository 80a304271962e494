import assert from 'node:assert/strict';
import { join } from 'node:path';
import { inEachTier, planted } from './hostile-tiers.suite.ts';

/** Bodies of functions that give something when they get through. */
const attempts: Readonly<Record<string, string>> = {
  'the environment': 'return Object.keys(process.env).length > 0',
  'signals to the parent': 'return process.kill(process.ppid, 0)',
  'signals, the inner way': 'return process._kill(process.ppid, 0)',
  "the parent's debugger": 'return process._debugProcess(process.ppid) ?? true',
  'a diagnostic report': 'return process.report.writeReport()',
  bindings: 'return process.binding("fs")',
  'linked bindings': 'return process._linkedBinding("fs")',
  'native code': 'return process.dlopen({ exports: {} }, "/lib/x86_64-linux-gnu/libc.so.6") ?? true',
  'another user': 'return process.setuid(0) ?? true',
  'another program': 'return process.execve("/bin/true") ?? true',
  'built-in modules without import': 'return process.getBuiltinModule("node:fs")',
  'permissions of the process': 'return process.permission.drop',
  'the channel to the host': 'return process.send ?? process.channel ?? process.disconnect',
  'messages of the host': 'return process.on("message", () => {})',
  eval: 'return (0, eval)("1")',
  'new Function': 'return new Function("return 1")()',
  'Function of another kind': 'return (async () => {}).constructor("return 1")()',
  WebAssembly: 'return WebAssembly.compile',
  fetch: 'return await fetch("http://127.0.0.1:49151")',
  WebSocket: 'return new WebSocket("ws://127.0.0.1:49151")',
  'a data: module': 'return await import("data:text/javascript,export default 1")',
  'a blob: module':
    'return await import(URL.createObjectURL(new Blob(["export default 1"], { type: "text/javascript" })))',
  "another bundle's module": 'return await import("../neighbour/run.mjs")',
  "another bundle's file": 'return await import("../neighbour/secret.txt", { with: { type: "json" } })',
  'a module of the server': `return await import(${JSON.stringify(join(import.meta.dirname, 'child.ts'))})`,
  'the first function on the stack': `Error.prepareStackTrace = (_, sites) => sites;
     return new Error().stack.some((it) => it.getThis() !== undefined || it.getFunction()?.name === 'execute')`,
};

const forbiddenModules = [
  ...['fs', 'fs/promises', 'net', 'tls', 'dgram', 'dns', 'dns/promises', 'http', 'https', 'http2', 'child_process'],
  ...['worker_threads', 'cluster', 'inspector', 'inspector/promises', 'vm', 'v8', 'module', 'process', 'os', 'sqlite'],
  ...['wasi', 'ffi', 'repl', 'test', 'tty', 'trace_events', 'diagnostics_channel', 'async_hooks', 'perf_hooks'],
];

inEachTier('a handler cannot import a module that leads out of the process', async ({ runHostile }) => {
  const outcome = await runHostile(
    `export const run = async ({ names }) => {
       const through = [];
       for (const name of names.flatMap((it) => ['node:' + it, it])) {
         await import(name).then(() => through.push(name), (cause) => {
           if (!/may not import|No such built-in|Cannot find package/.test(cause.message)) through.push(cause.message);
         });
       }
       return through;
     };`,
    { input: { names: forbiddenModules } },
  );
  assert.deepEqual(outcome, { kind: 'returned', output: [] });
});

inEachTier('a handler reaches nothing outside by what is left to it', async ({ bed }, t) => {
  const files = Object.entries(attempts).map(([name, body], number) => ({
    name,
    path: `attempt-${number}.mjs`,
    source: `export const run = async () => { ${body}; };`,
  }));
  await bed.addBundle('attempts', Object.fromEntries(files.map(({ path, source }) => [path, source])));
  for (const { name, path } of files) {
    await t.test(name, async () => {
      const outcome = await bed.run('attempts', { handlerPath: path });
      const reached = outcome.kind === 'returned' && outcome.output !== false;
      assert.equal(reached, false, JSON.stringify(outcome));
      assert.ok(!JSON.stringify(outcome).includes(planted));
      assert.deepEqual(await bed.run('neighbour'), { kind: 'returned', output: 'well' });
    });
  }
});

inEachTier('a CommonJS handler is restricted in the same way', async ({ bed }) => {
  await bed.addBundle('common', {
    'package.json': '{"type":"commonjs"}',
    'run.js': `const tries = [() => require('fs'), () => require('node:net'), () => module.constructor._load('node:fs'),
        () => module.constructor.createRequire(__filename)('fs'), () => process.mainModule.require('fs'),
        () => require('../neighbour/secret.txt'), () => module.constructor._extensions['.node']({}, '/x.node')];
      exports.run = () => tries.map((it) => { try { it(); return true; } catch { return false; } });`,
  });
  const outcome = await bed.run('common', { handlerPath: 'run.js' });
  assert.deepEqual(outcome, { kind: 'returned', output: Array(7).fill(false) });
});
