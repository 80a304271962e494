import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { SandboxOutcome } from './sandbox.ts';
import { childrenOf, openTestBed, type TestBed } from './test-bed.ts';

const planted = 'planted-7f3a9c';
let bed: TestBed;

before(async () => {
  process.env.PLANTED_TOKEN = planted;
  bed = await openTestBed();
  await bed.addBundle('neighbour', { 'run.mjs': 'export const run = () => "well";', 'secret.txt': planted });
  await writeFile(join(bed.folder, 'data.txt'), planted);
});
after(async () => {
  delete process.env.PLANTED_TOKEN;
  await bed[Symbol.asyncDispose]();
  assert.deepEqual(childrenOf(process.pid), [], 'no process is left');
  assert.ok(!bed.log.join('').includes(planted), 'the log holds no credential');
});

let bundles = 0;
type Change = Parameters<TestBed['run']>[1];

/** Runs it, and shows that a run of another bundle works afterwards. */
async function runHostile(source: string, change: Change = {}): Promise<SandboxOutcome> {
  const bundleId = `hostile${++bundles}`;
  await bed.addBundle(bundleId, { 'run.mjs': source });
  const outcome = await bed.run(bundleId, change);
  assert.deepEqual(await bed.run('neighbour'), { kind: 'returned', output: 'well' });
  return outcome;
}

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

test('a handler cannot import a module that leads out of the process', async () => {
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

test('a handler reaches nothing outside by what is left to it', async (t) => {
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

test('a CommonJS handler is restricted in the same way', async () => {
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

const endings: ReadonlyArray<readonly [string, string, SandboxOutcome['kind'], Change?]> = [
  ['loops for ever', 'for (;;);', 'timed_out', { limits: { timeoutMs: 200 } }],
  [
    'loops in microtasks',
    'const go = () => Promise.resolve().then(go); await go();',
    'timed_out',
    { limits: { timeoutMs: 200 } },
  ],
  ['never answers', 'await new Promise(() => {});', 'timed_out', { limits: { timeoutMs: 200 } }],
  [
    'makes a million timers',
    'for (let i = 0; i < 1e6; i++) setTimeout(() => {}, 1e6); for (;;);',
    'timed_out',
    { limits: { timeoutMs: 1500, memoryMb: 1024 } },
  ],
  ['matches a bad pattern', '/^(a+)+$/.test("a".repeat(40) + "!");', 'timed_out', { limits: { timeoutMs: 200 } }],
  [
    'fills 2 GB of Buffers',
    'const all = []; for (let i = 0; i < 2048; i++) all.push(Buffer.alloc(2 ** 20, 1)); return all.length;',
    'out_of_memory',
  ],
  ['fills its heap', 'const all = []; for (;;) all.push({ text: "x".repeat(1000) + all.length });', 'out_of_memory'],
  ['exits', 'process.exit(0);', 'crashed'],
  [
    'throws after a while',
    'setTimeout(() => { throw new Error("late"); }, 1); await new Promise(() => {});',
    'crashed',
  ],
  ['leaves a rejection unhandled', 'Promise.reject(new Error("floating")); await new Promise(() => {});', 'crashed'],
  ['recurses without end', 'const f = () => f() + 1; return f();', 'failed'],
  ['returns 100 MB', 'return "x".repeat(100 * 2 ** 20);', 'failed', { limits: { memoryMb: 1024 } }],
  ['throws 100 MB', 'throw new Error("x".repeat(100 * 2 ** 20));', 'failed', { limits: { memoryMb: 1024 } }],
  ['throws what is no error', 'throw Object.create(null);', 'failed'],
  ['throws an error that throws', 'throw { toString() { throw 1; } };', 'failed'],
  ['poisons JSON', 'JSON.stringify = () => "{"; JSON.parse = () => ({ type: "run" }); return 1;', 'returned'],
  [
    'poisons prototypes',
    'Array.prototype.push = Map.prototype.get = Map.prototype.set = () => { throw 1; }; return 1;',
    'returned',
  ],
];
for (const [name, body, kind, change] of endings) {
  test(`a handler that ${name} ends ${kind}`, async () => {
    const outcome = await runHostile(`export const run = async () => { ${body} };`, change);
    assert.equal(outcome.kind, kind, JSON.stringify(outcome).slice(0, 300));
    assert.ok(JSON.stringify(outcome).length < 3000, 'what the caller gets is bounded');
  });
}

test('what a handler prints neither blocks it nor reaches the log unbounded', async () => {
  const source = `export const run = async (input, context) => {
    const text = '${planted}'.repeat(100_000);
    for (let i = 0; i < 72; i++) { console.log(text); console.error(text); await new Promise(setImmediate); }
    return 'printed';
  };`;
  const before = bed.log.join('').length;
  const outcome = await runHostile(source.replace(planted, 'printed-text-'), { limits: { memoryMb: 1024 } });
  assert.deepEqual(outcome, { kind: 'returned', output: 'printed' });
  assert.ok(bed.log.join('').length - before < 10_000);
});

test('a handler that logs a million lines is heard as far as the bounds go', async () => {
  let bytes = 0;
  let reports = 0;
  const source = `export const run = (input, context) => {
    for (let i = 0; i < 1e6; i++) { context.log('line '.repeat(100) + i); context.progress(i / 1e6); }
    context.log('x'.repeat(1e6));
    return 'done';
  };`;
  const outcome = await runHostile(source, {
    onLog: (message) => {
      bytes += message.length;
    },
    onProgress: () => {
      reports += 1;
    },
  });
  assert.deepEqual(outcome, { kind: 'returned', output: 'done' });
  assert.ok(bytes > 10_000 && bytes <= 64 * 1024, `${bytes}`);
  assert.equal(reports, 200);
});

/** A handler gets hold of the child's channel by way of what standard output shares with it. The host believes nothing it reads there. */
const openChannel = `const Socket = console._stdout.constructor;
  let channel;
  const write = Socket.prototype.write;
  Socket.prototype.write = function (...values) { channel = this; return write.apply(this, values); };
  context.log('open');
  Socket.prototype.write = write;
  const say = (text) => new Promise((done) => channel.write(text + '\\n', done));`;

test('a forged result for another run is ignored', async () => {
  const forged = '{"type":"returned","run":"AAAAAAAAAAAAAAAAAAAAAA","ms":0,"output":"forged"}';
  const outcome = await runHostile(
    `export const run = async (input, context) => { ${openChannel} await say('${forged}'); return 'honest'; };`,
  );
  assert.deepEqual(outcome, { kind: 'returned', output: 'honest' });
});

test('a forged request for another run is not made', async () => {
  let made = 0;
  const forged = '{"type":"fetch","run":"AAAAAAAAAAAAAAAAAAAAAA","call":1,"request":{"url":"https://a.test/"}}';
  const outcome = await runHostile(
    `export const run = async (input, context) => { ${openChannel} await say('${forged}'); return 'honest'; };`,
    {
      onFetch: () => {
        made += 1;
        return Promise.reject(new Error('none'));
      },
    },
  );
  assert.deepEqual(outcome, { kind: 'returned', output: 'honest' });
  assert.equal(made, 0);
});

const floods: ReadonlyArray<readonly [string, string, RegExp]> = [
  ['what is no message', `await say('hello');`, /not a message/],
  ['a message of no known type', `await say('{"type":"sudo","run":"a"}');`, /not a message/],
  ['many messages', `for (;;) await say('{"type":"log","run":"a","message":"m"}');`, /too many messages/],
  [
    'a line without end',
    `for (;;) channel.write('x'.repeat(2 ** 20)) || await new Promise((it) => channel.once('drain', it));`,
    /limit of its output/,
  ],
  [
    'many large messages',
    `for (;;) await say('{"type":"log","run":"a","message":"' + 'm'.repeat(1e6) + '"}');`,
    /more data than it may|too many messages/,
  ],
];
for (const [name, body, message] of floods) {
  test(`a handler that sends the host ${name} is ended`, async () => {
    const outcome = await runHostile(
      `export const run = async (input, context) => { ${openChannel} ${body} await new Promise(() => {}); };`,
    );
    assert.equal(outcome.kind, 'crashed');
    assert.match(outcome.kind === 'crashed' ? outcome.message : '', message);
  });
}

test('what a run leaves behind does not speak in the next one', async () => {
  const source = `let old;
    export const run = async (input, context) => {
      if (input.first) {
        old = context;
        setInterval(() => context.log('left behind'), 0); setTimeout(() => { throw new Error('left behind'); }, 0);
        return 'first';
      }
      old.log('from before');
      const late = await old.fetch({ url: 'https://a.test/' }).catch((cause) => cause.code);
      await new Promise((done) => setTimeout(done, 20));
      return late;
    };`;
  const heard: string[] = [];
  await bed.addBundle('leaving', { 'run.mjs': source });
  const onLog = (message: string): void => void heard.push(message);
  assert.deepEqual(await bed.run('leaving', { input: { first: true }, onLog }), { kind: 'returned', output: 'first' });
  assert.deepEqual(await bed.run('leaving', { onLog }), { kind: 'returned', output: 'cancelled' });
  assert.deepEqual(heard, []);
});
