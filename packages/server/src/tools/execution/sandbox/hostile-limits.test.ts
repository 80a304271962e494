import assert from 'node:assert/strict';
import { openChannel } from './hostile/protocol.suite.ts';
import { inEachTier, planted } from './testing/hostile-tiers.suite.ts';

inEachTier('what a handler prints neither blocks it nor reaches the log unbounded', async ({ bed, runHostile }) => {
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

inEachTier('a handler that logs a million lines is heard as far as the bounds go', async ({ runHostile }) => {
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
    limits: { timeoutMs: 120_000 }, // the handler sends many messages
  });
  assert.deepEqual(outcome, { kind: 'returned', output: 'done' });
  assert.ok(bytes > 10_000 && bytes <= 64 * 1024, `${bytes}`);
  assert.equal(reports, 200);
});

inEachTier('a forged result for another run is ignored', async ({ runHostile }) => {
  const forged = '{"type":"returned","run":"AAAAAAAAAAAAAAAAAAAAAA","ms":0,"output":"forged"}';
  const outcome = await runHostile(
    `export const run = async (input, context) => { ${openChannel} await say('${forged}'); return 'honest'; };`,
  );
  assert.deepEqual(outcome, { kind: 'returned', output: 'honest' });
});

inEachTier('a forged request for another run is not made', async ({ runHostile }) => {
  let requests = 0;
  const forged = '{"type":"fetch","run":"AAAAAAAAAAAAAAAAAAAAAA","call":1,"request":{"url":"https://a.test/"}}';
  const outcome = await runHostile(
    `export const run = async (input, context) => { ${openChannel} await say('${forged}'); return 'honest'; };`,
    {
      onFetch: () => {
        requests += 1;
        return Promise.reject(new Error('none'));
      },
    },
  );
  assert.deepEqual(outcome, { kind: 'returned', output: 'honest' });
  assert.equal(requests, 0);
});

inEachTier('what a run leaves behind does not speak in the next one', async ({ bed }) => {
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
  const messages: string[] = [];
  await bed.addBundle('leaving', { 'run.mjs': source });
  const onLog = (message: string): void => void messages.push(message);
  assert.deepEqual(await bed.run('leaving', { input: { first: true }, onLog }), { kind: 'returned', output: 'first' });
  assert.deepEqual(await bed.run('leaving', { onLog }), { kind: 'returned', output: 'cancelled' });
  assert.deepEqual(messages, []);
});
