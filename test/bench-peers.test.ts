import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Contestant, type Figures, hold } from '../bench/peers/contest.ts';
import { describe, draw } from '../bench/peers/report.ts';

const row = {
  group: 'questions',
  version: '1',
  perSecond: 99.6,
  p99: undefined,
  checked: '100 of 100',
  effort: '1 round',
};
const rows: Figures[] = [
  { ...row, system: 'Quartermaster', work: 'passages, 1 connection', p50: 1, processorMs: 2 },
  { ...row, system: 'A & B', work: 'passages, 1 connection', p50: 4, processorMs: undefined },
  { ...row, system: 'Quartermaster', work: 'passages, 8 connections', p50: 1, processorMs: 2 },
];

test('the table of peers has a line for each figure, and the plot a bar for each value with one connection', () => {
  const lines = describe(rows).split('\n');
  assert.ok(lines.includes('|  | A & B | 100 | 4.0 | – | – | – | 100 of 100 |'), lines.join('\n'));
  const svg = draw(rows);
  assert.equal(svg.match(/<rect /g)?.length, 3);
  assert.match(svg, /A &amp; B/);
  assert.match(svg, /prefers-color-scheme:dark/);
});

test('a system whose operation fails has no figures', async () => {
  const contestant: Contestant = {
    ...{ name: 'peer', version: '1', pid: process.pid, checked: '' },
    open: () => ({ ask: async () => undefined, close() {} }),
  };
  const work = { group: 'questions', work: 'passages', connections: [1] };
  await assert.rejects(hold(work, [contestant], { rounds: 1, seconds: 0 }), /peer: 1 of 1 failed/);
});

test('the packages of others have exact versions and no addresses of a registry', () => {
  const { dependencies } = JSON.parse(readFileSync('bench/peers/package.json', 'utf8')) as { dependencies: object };
  assert.deepEqual(
    Object.values(dependencies).filter((version) => !/^\d+\.\d+\.\d+$/.test(String(version))),
    [],
  );
  assert.ok(!readFileSync('bench/peers/package-lock.json', 'utf8').includes('"resolved"'));
});
