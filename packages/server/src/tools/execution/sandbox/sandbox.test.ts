import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { OutboundRequest } from '@quartermaster/plugin-kit';
import { childrenOf, openTestBed, type TestBed } from './testing/test-bed.suite.ts';

let bed: TestBed;
before(async () => {
  bed = await openTestBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
  assert.deepEqual(childrenOf(process.pid), [], 'no process is left');
});

async function runSource(source: string, change: Parameters<TestBed['run']>[1] = {}): ReturnType<TestBed['run']> {
  const bundleId = `b${++bundles}`;
  await bed.addBundle(bundleId, { 'run.mjs': source });
  return bed.run(bundleId, change);
}
let bundles = 0;

test('a TypeScript handler receives its input and returns its output', async () => {
  const source = `import type { Handler } from '@quartermaster/plugin-kit';
    import { half } from './half.ts';
    export const run: Handler<{ a: number }> = async ({ a }) => ({ result: half(a) });`;
  await bed.addBundle('typed', { 'run.ts': source, 'half.ts': 'export const half = (a: number): number => a / 2;' });
  const outcome = await bed.run('typed', { handlerPath: 'run.ts', input: { a: 5 } });
  assert.deepEqual(outcome, { kind: 'returned', output: { result: 2.5 } });
});

test('a handler may import harmless modules and files of its bundle', async () => {
  const source = `import { createHash } from 'node:crypto'; import table from './table.json' with { type: 'json' };
    export const run = () => createHash('sha256').update(table.text).digest('hex').slice(0, 8);`;
  await bed.addBundle('imports', { 'run.mjs': source, 'table.json': '{"text":"abc"}' });
  assert.deepEqual(await bed.run('imports'), { kind: 'returned', output: 'ba7816bf' });
});

test('context.fetch, log and progress reach the host', async () => {
  const seen: unknown[] = [];
  const outcome = await runSource(
    `export const run = async (input, context) => {
       context.log('asking', { n: 1 }); context.progress(0.5, 'half way');
       const answer = await context.fetch({ url: 'https://a.test/', query: { q: ['x', 1] } });
       return { status: answer.status, text: answer.text };
     };`,
    {
      onLog: (message, fields) => seen.push(message, fields),
      onProgress: (fraction, message) => seen.push(fraction, message),
      onFetch: async (request: OutboundRequest) => {
        seen.push(request);
        return { status: 200, headers: {}, text: 'grüezi' };
      },
    },
  );
  assert.deepEqual(outcome, { kind: 'returned', output: { status: 200, text: 'grüezi' } });
  assert.deepEqual(seen, ['asking', { n: 1 }, 0.5, 'half way', { url: 'https://a.test/', query: { q: ['x', 1] } }]);
});

test('a refused request reaches the handler as code and message', async () => {
  const outcome = await runSource(
    `export const run = (input, context) => context.fetch({ url: 'https://a.test/' }).catch((e) => [e.code, e.message]);`,
    { onFetch: () => Promise.reject(Object.assign(new Error('not a declared host'), { code: 'egress_refused' })) },
  );
  assert.deepEqual(outcome, { kind: 'returned', output: ['egress_refused', 'not a declared host'] });
});

test('a run makes at most its number of requests, six concurrently', async () => {
  let now = 0;
  let most = 0;
  const six = Promise.withResolvers<void>();
  const outcome = await runSource(
    `export const run = async (input, context) => {
       const all = await Promise.allSettled(Array.from({ length: 15 }, () => context.fetch({ url: 'https://a.test/' })));
       return all.map((it) => it.reason?.code ?? it.value.status);
     };`,
    {
      onFetch: async () => {
        most = Math.max(most, ++now);
        if (now === 6) six.resolve();
        await six.promise;
        now -= 1;
        return { status: 200, headers: {}, text: '' };
      },
    },
  );
  const expected = [...Array(10).fill(200), ...Array(5).fill('too_many_requests')];
  assert.deepEqual(outcome, { kind: 'returned', output: expected });
  assert.equal(most, 6);
});

test('context.reject reports an invalid input', async () => {
  const outcome = await runSource(`export const run = (input, context) => context.reject('q is not a city');`);
  assert.deepEqual(outcome, { kind: 'input_rejected', message: 'q is not a city' });
});

test('a thrown error fails the run with its message, without stack and paths', async () => {
  const outcome = await runSource(
    `export const run = () => { throw new Error('no such thing at ' + import.meta.url + '\\u001b[31m\\nnext line'); };`,
  );
  assert.deepEqual(outcome, { kind: 'failed', message: 'no such thing at ./run.mjs [31m next line' });
});

test('a handler that cannot be loaded fails the run', async () => {
  const cases = [
    ['export const walk = 1;', /no function named "run"/],
    ['export const run = (;', /Unexpected token|Expression expected/],
    [
      `import './missing.mjs'; export const run = 1;`,
      /Cannot find module '\.\/missing\.mjs' imported from \.\/run\.mjs/,
    ],
    ['throw new Error("at the top"); export const run = 1;', /^at the top$/],
    [`import 'node:fs'; export const run = 1;`, /may not import "node:fs"/],
  ] as const;
  for (const [source, message] of cases) {
    const outcome = await runSource(source);
    assert.equal(outcome.kind, 'failed');
    assert.match(outcome.kind === 'failed' ? outcome.message : '', message);
  }
});

test('an output that is not JSON fails the run with the reason', async () => {
  const cases = [
    ['1n', /BigInt/],
    ['(() => { const a = {}; a.a = a; return a; })()', /circular/],
    ['undefined', /not JSON: it is of the type undefined/],
    ['() => 1', /not JSON: it is of the type function/],
    ['({ toJSON() { throw new Error("no") } })', /^no$/],
    ['"x".repeat(2 ** 20)', /The output is over 1048576 bytes of JSON/],
    ['JSON.parse("[".repeat(500) + "]".repeat(500))', /nests deeper than 128/],
    ['JSON.parse(\'{"a":{"__proto__":{"polluted":1}}}\')', /"__proto__"/],
  ] as const;
  for (const [value, message] of cases) {
    const outcome = await runSource(`export const run = () => ${value};`);
    assert.equal(outcome.kind, 'failed', value);
    assert.match(outcome.kind === 'failed' ? outcome.message : '', message);
  }
  assert.equal(Reflect.get({}, 'polluted'), undefined);
});

test('a cancelled run that ends in time keeps its child process; otherwise the child is killed', async () => {
  const source = `globalThis.runs = 0;
    export const run = async ({ deaf }, context) => {
      globalThis.runs += 1;
      if (deaf === undefined) return globalThis.runs;
      context.log('begun');
      if (deaf) for (;;);
      await context.fetch({ url: 'https://a.test/' });
    };`;
  await bed.addBundle('cancelled', { 'run.mjs': source });
  const runCancelled = async (deaf: boolean): Promise<unknown> => {
    const controller = new AbortController();
    const fetchSignals: AbortSignal[] = [];
    const outcome = await bed.run('cancelled', {
      input: { deaf },
      signal: controller.signal,
      onLog: () => (deaf ? controller.abort() : undefined),
      onFetch: (_, signal) => {
        fetchSignals.push(signal);
        controller.abort();
        return new Promise(() => {});
      },
    });
    assert.deepEqual(
      fetchSignals.filter((signal) => !signal.aborted),
      [],
      'the request was aborted too',
    );
    return outcome;
  };
  assert.deepEqual(await runCancelled(false), { kind: 'cancelled' });
  assert.deepEqual(await bed.run('cancelled'), { kind: 'returned', output: 2 }, 'the same child');
  assert.deepEqual(await runCancelled(true), { kind: 'cancelled' });
  assert.deepEqual(await bed.run('cancelled'), { kind: 'returned', output: 1 }, 'a new child');
});

test('the signal of a handler is aborted when its run is cancelled', async () => {
  const controller = new AbortController();
  const messages: string[] = [];
  const outcome = await runSource(
    `export const run = (input, context) => new Promise((resolve) => {
       context.signal.addEventListener('abort', () => resolve('heard'));
       context.log('begun');
     });`,
    {
      signal: controller.signal,
      onLog: (message) => {
        messages.push(message);
        controller.abort();
      },
    },
  );
  assert.deepEqual(outcome, { kind: 'cancelled' });
  assert.deepEqual(messages, ['begun']);
});

test('a run that waits longer than its time limit is timed out', async () => {
  const limits = { timeoutMs: 100 };
  const timedOut = { kind: 'timed_out', limitMs: 100 };
  assert.deepEqual(await runSource('export const run = () => new Promise(() => {});', { limits }), timedOut);
  const abiding = `export const run = (_, context) => new Promise((_, no) => context.signal.onabort = () => no(Error()));`;
  assert.deepEqual(await runSource(abiding, { limits }), timedOut);
});

test('a handler outside its bundle is refused', async () => {
  await bed.addBundle('escaping', { 'run.mjs': 'export const run = () => 1;' });
  await assert.rejects(
    bed.run('escaping', { handlerPath: '../b1/run.mjs' }),
    /must be inside the folder of its bundle/,
  );
});
