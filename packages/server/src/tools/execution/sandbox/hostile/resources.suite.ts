import type { HostileCase } from './hostile-case.suite.ts';

const short = { timeoutMs: 250 };
function takes(does: string, body: string): HostileCase {
  return {
    does,
    body,
    ends: ['out_of_memory', 'failed', 'crashed'],
    limits: { memoryMb: 160, timeoutMs: 8_000 },
    isLasting: true,
  };
}
function lasts(does: string, body: string): HostileCase {
  return { does, body, ends: ['timed_out'], limits: short, isLasting: true };
}

/** Attempts to use too many resources, or to end in a way that disturbs others. */
export const resources: readonly HostileCase[] = [
  lasts('loop for ever', `for (;;);`),
  lasts('loop in microtasks', `const go = () => Promise.resolve().then(go); await go();`),
  lasts('loop in ticks', `const go = () => process.nextTick(go); go(); await new Promise(() => {});`),
  lasts('loop in turns', `const go = () => setImmediate(go); go(); await new Promise(() => {});`),
  lasts('never answer', `await new Promise(() => {});`),
  lasts(
    'catch being cancelled',
    `for (;;) await new Promise((yes, no) => context.signal.addEventListener('abort', no)).catch(() => {});`,
  ),
  lasts('match a bad pattern', `/^(a+)+$/.test('a'.repeat(40) + '!');`),
  lasts('sort without end', `Array.from({ length: 1e6 }, Math.random).sort(() => { for (;;); });`),
  lasts('block its thread', `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);`),
  lasts('compute large numbers', `let a = 3n; for (;;) { a = a ** 2n; if (a > 2n ** 1_000_000n) a = 3n; }`),
  lasts(
    'derive keys for ever',
    `const { pbkdf2 } = await import('node:crypto'); for (;;) await new Promise((done) => pbkdf2('a', 'b', 1e6, 64, 'sha512', done));`,
  ),
  lasts(
    'derive keys without a pause',
    `const { pbkdf2Sync } = await import('node:crypto'); for (;;) pbkdf2Sync('a', 'b', 1e7, 64, 'sha512');`,
  ),
  {
    does: 'make a million timers',
    body: `for (let i = 0; i < 1e6; i++) setTimeout(() => {}, 1e6); for (;;);`,
    ends: ['timed_out'],
    limits: { timeoutMs: 1_500, memoryMb: 1024 },
    isLasting: true,
  },
  takes(
    'fill 2 GB of Buffers',
    `const all = []; for (let i = 0; i < 2048; i++) all.push(Buffer.alloc(2 ** 20, 1)); return all.length;`,
  ),
  takes('fill 4 GB at once', `return Buffer.alloc(4 * 2 ** 30 - 1, 1).length;`),
  takes('fill its heap', `const all = []; for (;;) all.push({ text: 'x'.repeat(1000) + all.length });`),
  takes('fill a map', `const all = new Map(); for (let i = 0; ; i++) all.set('key' + i, [i, i]);`),
  takes(
    'fill shared memory',
    `const all = []; for (;;) all.push(new Uint8Array(new SharedArrayBuffer(2 ** 24)).fill(1));`,
  ),
  takes(
    'fill growing memory',
    `const a = new ArrayBuffer(0, { maxByteLength: 2 ** 32 }); for (let n = 2 ** 20; ; n += 2 ** 20) { a.resize(n); new Uint8Array(a).fill(1); }`,
  ),
  takes('fill typed arrays', `const all = []; for (;;) all.push(new Float64Array(1e6).fill(1.5));`),
  takes('join strings', `let a = 'x'.repeat(1e6); const all = []; for (;;) all.push(Buffer.from(a + all.length));`),
  takes('fill external strings', `const all = []; for (;;) all.push(Buffer.alloc(2 ** 20, 120).toString('latin1'));`),
  takes(
    'fill memory of WebAssembly',
    `const all = []; for (;;) { const it = new WebAssembly.Memory({ initial: 1024 }); new Uint8Array(it.buffer).fill(1); all.push(it); }`,
  ),
  takes(
    'unpack a bomb',
    `const zlib = await import('node:zlib'); const bomb = zlib.gzipSync(Buffer.alloc(2 ** 26)); const all = []; for (;;) all.push(zlib.gunzipSync(bomb).fill(1));`,
  ),
  takes(
    'derive a key with much memory',
    `const { scryptSync } = await import('node:crypto'); return scryptSync('a', 'b', 64, { N: 2 ** 20, r: 16, maxmem: 2 ** 32 }).length;`,
  ),
  takes('parse a large text', `const text = '[' + '{"a":[]},'.repeat(2e7) + '1]'; return JSON.parse(text).length;`),
  takes('fill an array', `return new Array(2 ** 27).fill(1.1).map((it) => ({ it })).length;`),
  { does: 'exit', body: `process.exit(0);`, ends: ['crashed'], isLasting: true },
  { does: 'exit with a code of its own', body: `process.exit(137);`, ends: ['crashed'], isLasting: true },
  {
    does: 'exit while it answers',
    body: `return { toJSON() { process.exit(0); } };`,
    ends: ['crashed'],
    isLasting: true,
  },
  { does: 'abort with a core file', body: `process.abort();`, ends: ['crashed', 'failed'], isLasting: true },
  {
    does: 'pretend to be out of memory',
    body: `console.error('FATAL ERROR: JavaScript heap out of memory'); process.exit(134);`,
    ends: ['crashed', 'out_of_memory'],
    isLasting: true,
  },
  {
    does: 'throw after a while',
    body: `setTimeout(() => { throw new Error('late'); }, 1); await new Promise(() => {});`,
    ends: ['crashed'],
    isLasting: true,
  },
  {
    does: 'leave a rejection unhandled',
    body: `Promise.reject(new Error('floating')); await new Promise(() => {});`,
    ends: ['crashed'],
    isLasting: true,
  },
  { does: 'recurse without end', body: `const f = () => f() + 1; return f();`, ends: ['failed'] },
  {
    does: 'recurse in promises',
    body: `const f = async () => { await f(); }; await f();`,
    ends: ['failed', 'crashed', 'out_of_memory', 'timed_out'],
    limits: { timeoutMs: 3_000 },
    isLasting: true,
  },
  {
    does: 'overflow the stack of a parser',
    body: `JSON.parse('['.repeat(5e6)); return 1;`,
    ends: ['failed', 'crashed'],
    isLasting: true,
  },
  {
    does: 'print without end',
    body: `const text = 'x'.repeat(2 ** 16); for (let i = 0; i < 500; i++) { console.log(text); console.error(text); } return 1;`,
    ends: ['returned', 'out_of_memory'],
    isLasting: true,
  },
  {
    does: 'log a hundred thousand lines',
    body: `for (let i = 0; i < 1e5; i++) context.log('line ' + i); return 1;`,
    ends: ['returned'],
  },
  {
    does: 'report progress a hundred thousand times',
    body: `for (let i = 0; i < 1e5; i++) context.progress(i / 1e5); return 1;`,
    ends: ['returned'],
  },
  {
    does: 'request a thousand times',
    body: `const all = await Promise.allSettled(Array.from({ length: 1000 }, () => context.fetch({ url: 'https://a.test/' }))); return all.filter((it) => it.reason?.code === 'too_many_requests').length > 900 ? 1 : must(false);`,
    ends: ['returned'],
  },
  {
    does: 'request 2 MB',
    body: `return await context.fetch({ url: 'https://a.test/', text: 'x'.repeat(2e6) }).then(() => must(false), () => 1);`,
    ends: ['returned'],
  },
];
