import { bodyWith, casesOf, type HostileCase } from './hostile-case.suite.ts';

const greedy = bodyWith({
  ends: ['out_of_memory', 'failed', 'crashed'],
  limits: { memoryMb: 160, timeoutMs: 8_000 },
  isLasting: true,
});
const endless = bodyWith({ ends: ['timed_out'], limits: { timeoutMs: 250 }, isLasting: true });
const crashing = bodyWith({ ends: ['crashed'], isLasting: true });
const returning = bodyWith({ ends: ['returned'] });

/** Attempts to use too many resources, or to end in a way that disturbs others. */
export const resources: readonly HostileCase[] = casesOf({
  'loop for ever': endless`for (;;);`,
  'loop in microtasks': endless`const go = () => Promise.resolve().then(go); await go();`,
  'loop in ticks': endless`const go = () => process.nextTick(go); go(); await new Promise(() => {});`,
  'loop in turns': endless`const go = () => setImmediate(go); go(); await new Promise(() => {});`,
  'never answer': endless`await new Promise(() => {});`,
  'catch being cancelled': endless`for (;;) await new Promise((yes, no) => context.signal.addEventListener('abort', no)).catch(() => {});`,
  'match a bad pattern': endless`/^(a+)+$/.test('a'.repeat(40) + '!');`,
  'sort without end': endless`Array.from({ length: 1e6 }, Math.random).sort(() => { for (;;); });`,
  'block its thread': endless`Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);`,
  'compute large numbers': endless`let a = 3n; for (;;) { a = a ** 2n; if (a > 2n ** 1_000_000n) a = 3n; }`,
  'derive keys for ever': endless`const { pbkdf2 } = await import('node:crypto'); for (;;) await new Promise((done) => pbkdf2('a', 'b', 1e6, 64, 'sha512', done));`,
  'derive keys without a pause': endless`const { pbkdf2Sync } = await import('node:crypto'); for (;;) pbkdf2Sync('a', 'b', 1e7, 64, 'sha512');`,
  'make a million timers': {
    body: `for (let i = 0; i < 1e6; i++) setTimeout(() => {}, 1e6); for (;;);`,
    ends: ['timed_out'],
    limits: { timeoutMs: 1_500, memoryMb: 1024 },
    isLasting: true,
  },
  'fill 2 GB of Buffers': greedy`const all = []; for (let i = 0; i < 2048; i++) all.push(Buffer.alloc(2 ** 20, 1)); return all.length;`,
  'fill 4 GB at once': greedy`return Buffer.alloc(4 * 2 ** 30 - 1, 1).length;`,
  'fill its heap': greedy`const all = []; for (;;) all.push({ text: 'x'.repeat(1000) + all.length });`,
  'fill a map': greedy`const all = new Map(); for (let i = 0; ; i++) all.set('key' + i, [i, i]);`,
  'fill shared memory': greedy`const all = []; for (;;) all.push(new Uint8Array(new SharedArrayBuffer(2 ** 24)).fill(1));`,
  'fill growing memory': greedy`const a = new ArrayBuffer(0, { maxByteLength: 2 ** 32 }); for (let n = 2 ** 20; ; n += 2 ** 20) { a.resize(n); new Uint8Array(a).fill(1); }`,
  'fill typed arrays': greedy`const all = []; for (;;) all.push(new Float64Array(1e6).fill(1.5));`,
  'join strings': greedy`let a = 'x'.repeat(1e6); const all = []; for (;;) all.push(Buffer.from(a + all.length));`,
  'fill external strings': greedy`const all = []; for (;;) all.push(Buffer.alloc(2 ** 20, 120).toString('latin1'));`,
  'fill memory of WebAssembly': greedy`const all = []; for (;;) { const it = new WebAssembly.Memory({ initial: 1024 }); new Uint8Array(it.buffer).fill(1); all.push(it); }`,
  'unpack a bomb': greedy`const zlib = await import('node:zlib'); const bomb = zlib.gzipSync(Buffer.alloc(2 ** 26)); const all = []; for (;;) all.push(zlib.gunzipSync(bomb).fill(1));`,
  'derive a key with much memory': greedy`const { scryptSync } = await import('node:crypto'); return scryptSync('a', 'b', 64, { N: 2 ** 20, r: 16, maxmem: 2 ** 32 }).length;`,
  'parse a large text': greedy`const text = '[' + '{"a":[]},'.repeat(2e7) + '1]'; return JSON.parse(text).length;`,
  'fill an array': greedy`return new Array(2 ** 27).fill(1.1).map((it) => ({ it })).length;`,
  exit: crashing`process.exit(0);`,
  'exit with a code of its own': crashing`process.exit(137);`,
  'exit while it answers': crashing`return { toJSON() { process.exit(0); } };`,
  'abort with a core file': { body: `process.abort();`, ends: ['crashed', 'failed'], isLasting: true },
  'pretend to be out of memory': {
    body: `console.error('FATAL ERROR: JavaScript heap out of memory'); process.exit(134);`,
    ends: ['crashed', 'out_of_memory'],
    isLasting: true,
  },
  'throw after a while': crashing`setTimeout(() => { throw new Error('late'); }, 1); await new Promise(() => {});`,
  'leave a rejection unhandled': crashing`Promise.reject(new Error('floating')); await new Promise(() => {});`,
  'recurse without end': { body: `const f = () => f() + 1; return f();`, ends: ['failed'] },
  'recurse in promises': {
    body: `const f = async () => { await f(); }; await f();`,
    ends: ['failed', 'crashed', 'out_of_memory', 'timed_out'],
    limits: { timeoutMs: 3_000 },
    isLasting: true,
  },
  'overflow the stack of a parser': {
    body: `JSON.parse('['.repeat(5e6)); return 1;`,
    ends: ['failed', 'crashed'],
    isLasting: true,
  },
  'print without end': {
    body: `const text = 'x'.repeat(2 ** 16); for (let i = 0; i < 500; i++) { console.log(text); console.error(text); } return 1;`,
    ends: ['returned', 'out_of_memory'],
    isLasting: true,
  },
  'log a hundred thousand lines': returning`for (let i = 0; i < 1e5; i++) context.log('line ' + i); return 1;`,
  'report progress a hundred thousand times': returning`for (let i = 0; i < 1e5; i++) context.progress(i / 1e5); return 1;`,
  'request a thousand times': returning`const all = await Promise.allSettled(Array.from({ length: 1000 }, () => context.fetch({ url: 'https://a.test/' }))); return all.filter((it) => it.reason?.code === 'too_many_requests').length > 900 ? 1 : must(false);`,
  'request 2 MB': returning`return await context.fetch({ url: 'https://a.test/', text: 'x'.repeat(2e6) }).then(() => must(false), () => 1);`,
});
