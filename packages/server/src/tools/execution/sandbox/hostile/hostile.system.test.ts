import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { before, test } from 'node:test';
import { createReadableCopy } from '../testing/readable-copy.suite.ts';
import { childrenOf } from '../testing/test-bed.suite.ts';
import { attempts, harm } from './corpus.suite.ts';
import type { HostileCase } from './hostile-case.suite.ts';
import { type Verdict, type Verdicts, verdictOn } from './measure.suite.ts';
import { measureAll } from './measure-all.suite.ts';
import { type Measured, pageMarks, renderMeasured, settleSlow } from './render-page.suite.ts';

const page = new URL('../../../../../../../docs/reference/isolation.md', import.meta.url);
const attempting = Object.values(attempts).flat();
let measured: Measured;
before(async () => {
  measured = await measureAll();
});

/**
 * Returns the cases that are not contained, with their verdicts. A case that reached nothing within many times its
 * usual time counts as contained. There must be few of them; otherwise the machine is too slow for the measurement.
 */
function notContained(verdicts: Verdicts): Record<string, string> {
  const slow = [...verdicts].filter(([, verdict]) => verdict === 'slow').map(([{ does }]) => does);
  assert.ok(slow.length <= verdicts.size / 10, `not measured for want of time: ${slow.join('; ')}`);
  const rest = [...verdicts].filter(([, verdict]) => verdict !== 'contained' && verdict !== 'slow');
  return Object.fromEntries(rest.map(([{ does }, verdict]) => [does, verdict]));
}

test('a sandbox contains every hostile handler of the corpus, and other runs continue', () => {
  const { sandbox } = measured.whole;
  assert.ok(sandbox.size >= 150, `${sandbox.size} handlers`);
  assert.deepEqual(notContained(sandbox), {});
});

test('in a sandbox, the kernel alone contains handlers that Node.js does not', () => {
  assert.deepEqual(notContained(measured.kernel.sandbox), {});
});

test('a process with the Node.js permissions and the system call filter contains every hostile handler', () => {
  assert.deepEqual(notContained(measured.whole.process), {});
});

test('without the Node.js permissions a process contains little, which shows that the attempts are real', () => {
  const open = Object.values(notContained(measured.kernel.process));
  assert.ok(open.length >= 100, `${open.length} got through`);
  assert.deepEqual(new Set(open), new Set(['open']));
});

test('the page about isolation shows the measured results', (t) => {
  if (process.getuid?.() !== 0) return t.diagnostic('it says what holds where children have their own user');
  const hint = 'changed? node scripts/measure-isolation.ts writes the page';
  assert.equal(saidByPage(), renderMeasured(settleSlow(measured, saidByPage())).trim(), hint);
});

test('a change of containment changes the page, but an attempt without enough time does not', () => {
  const rendered = renderMeasured(measured);
  const change = (it: HostileCase | undefined, verdict: string): string => {
    assert.ok(it !== undefined);
    const kernel = { ...measured.kernel, process: new Map([...measured.kernel.process, [it, verdict]]) };
    return renderMeasured(settleSlow({ ...measured, kernel }, rendered));
  };
  const [open, contained] = ['open', 'contained'].map((verdict) =>
    attempting.find((it) => measured.kernel.process.get(it) === verdict),
  );
  assert.notEqual(change(open, 'contained'), rendered);
  assert.notEqual(change(contained, 'open'), rendered);
  assert.notEqual(change(contained, 'harmed others'), rendered);
  assert.equal(change(open, 'slow'), rendered);
  assert.equal(change(contained, 'slow'), rendered);
});

test('only a time limit makes an attempt slow', () => {
  const attempt = { does: 'try', body: '' };
  const harmful: HostileCase = { ...attempt, ends: ['out_of_memory'] };
  const late = { kind: 'timed_out', limitMs: 1 } as const;
  assert.equal(verdictOn(attempt, late, 0), 'slow');
  assert.equal(verdictOn(attempt, late, 1), 'open');
  assert.equal(verdictOn(attempt, { kind: 'returned', output: 'through' }, 0), 'open');
  assert.equal(verdictOn(attempt, { kind: 'failed', message: 'denied' }, 0), 'contained');
  assert.equal(verdictOn(harmful, late, 0), 'slow');
  assert.equal(verdictOn({ ...harmful, ends: ['timed_out'] }, late, 0), 'contained');
  assert.equal(verdictOn(harmful, { kind: 'out_of_memory', limitMb: 1 }, 0), 'contained');
  assert.match(verdictOn(harmful, { kind: 'returned', output: 1 }, 0), /^ended/);
});

function saidByPage(): string {
  const [, current = ''] = readFileSync(page, 'utf8').split(new RegExp(`${pageMarks[0]}|${pageMarks[1]}`));
  return current.trim();
}

test('a sandbox of an ordinary user contains the same attempts', async (t) => {
  const { node, url } = await createReadableCopy(t);
  const ordinary = process.getuid?.() === 0 ? { user: 1000 } : {};
  const program = `
    import { attempts } from ${url('tools/execution/sandbox/hostile/corpus.suite.ts')};
    import { measure } from ${url('tools/execution/sandbox/hostile/measure.suite.ts')};
    const measurement = ${JSON.stringify({ isolation: 'sandbox', barriers: 'kernel', ...ordinary })};
    const verdicts = await measure(Object.values(attempts).flat(), measurement);
    console.log(JSON.stringify([...verdicts.values()]));`;
  const child = spawn(node, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [written] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  const verdicts: Verdict[] = JSON.parse(written);
  assert.equal(verdicts.length, attempting.length);
  assert.deepEqual(notContained(new Map(attempting.map((it, at) => [it, verdicts[at] ?? 'never tried']))), {});
});

test('no handler is in the corpus twice, and no process remains', () => {
  const names = Object.entries({ ...attempts, ...harm }).flatMap(([group, all]) => all.map((it) => group + it.does));
  assert.equal(new Set(names).size, names.length);
  assert.deepEqual(childrenOf(process.pid), []);
});
