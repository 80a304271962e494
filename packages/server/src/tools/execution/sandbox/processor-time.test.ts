import assert from 'node:assert/strict';
import { inEachTier } from './testing/hostile-tiers.suite.ts';
import { until } from './testing/test-bed.suite.ts';

const limits = { timeoutMs: 120_000, cpuMs: 400 };
const exceeded = { kind: 'timed_out', limitMs: 400, of: 'processor' };
const spin = 'const spin = (ms) => { for (const end = performance.now() + ms; performance.now() < end; ); };';
const rest = 'const rest = (ms) => new Promise((done) => setTimeout(done, ms));';
const threads = `const { pbkdf2 } = await import('node:crypto');
  const derive = () => new Promise((done) => pbkdf2('a', 'b', 50_000, 64, 'sha512', done));
  for (;;) await Promise.all([derive(), derive(), derive()]);`;

/** Ways to use the processor until something stops them. */
const burning = {
  'one loop': 'for (;;);',
  bursts: `${spin} ${rest} for (;;) { spin(20); await rest(20); }`,
  'threads while its own waits': threads,
};

for (const [how, body] of Object.entries(burning)) {
  inEachTier(`a run that takes more processor time than it may is ended: ${how}`, async ({ runHostile }) => {
    assert.deepEqual(await runHostile(`export const run = async () => { ${body} };`, { limits }), exceeded);
  });
}

inEachTier('time that a run waits is none of the processor', async ({ runHostile }) => {
  const source = `${rest} export const run = async () => { for (let i = 0; i < 20; i++) await rest(50); return 'rested'; };`;
  assert.deepEqual(await runHostile(source, { limits }), { kind: 'returned', output: 'rested' });
});

inEachTier('each run has the processor time of its own, in the same process', async ({ bed }) => {
  await bed.addBundle('many', {
    'run.mjs': `${spin} let runs = 0; export const run = () => { spin(100); return ++runs; };`,
  });
  const outcomes = [];
  for (let i = 0; i < 10; i++) outcomes.push(await bed.run('many', { limits }));
  assert.deepEqual(outcomes.at(-1), { kind: 'returned', output: 10 });
});

inEachTier('what a run leaves behind takes no more than the run may', async ({ bed }) => {
  const source = `const burn = async () => { ${threads} }; export const run = () => { void burn(); return 'answered'; };`;
  await bed.addBundle('lingers', { 'run.mjs': source });
  assert.deepEqual(await bed.run('lingers', { limits }), { kind: 'returned', output: 'answered' });
  const isExitLine = (line: string): boolean => line.includes('"lingers"') && line.includes('process exited early');
  await until('its process has been ended', () => bed.log.some(isExitLine));
  assert.deepEqual(await bed.run('neighbour'), { kind: 'returned', output: 'well' });
});
