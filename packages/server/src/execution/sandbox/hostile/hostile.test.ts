import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { isReadableByAll } from '../probe.ts';
import { childrenOf } from '../test-bed.ts';
import { attempts, harm } from './corpus.suite.ts';
import { measure, type Verdicts } from './measure.suite.ts';
import { measureAll } from './measure-all.suite.ts';
import { type Measured, pageMarks, renderMeasured } from './render-page.suite.ts';

const page = new URL('../../../../../../docs/reference/isolation.md', import.meta.url);
const attempting = Object.values(attempts).flat();
let measured: Measured;
before(async () => {
  measured = await measureAll();
});

/** What is not contained, with what happened instead. */
function notContained(verdicts: Verdicts): Record<string, string> {
  const rest = [...verdicts].filter(([, verdict]) => verdict !== 'contained');
  return Object.fromEntries(rest.map(([{ does }, verdict]) => [does, verdict]));
}

test('a sandbox contains every hostile handler of the corpus, and others go on', () => {
  const { sandbox } = measured.whole;
  assert.ok(sandbox.size >= 150, `${sandbox.size} handlers`);
  assert.deepEqual(notContained(sandbox), {});
});

test('in a sandbox the kernel alone contains what Node does not', () => {
  assert.deepEqual(notContained(measured.kernel.sandbox), {});
});

test('a process contains the corpus while Node and the seat belt hold', () => {
  assert.deepEqual(notContained(measured.whole.process), {});
});

test('without Node a process contains little: each attempt is a real one', () => {
  const open = Object.values(notContained(measured.kernel.process));
  assert.ok(open.length >= 100, `${open.length} got through`);
  assert.deepEqual(new Set(open), new Set(['open']));
});

test('the page of isolation says what was measured', (t) => {
  if (process.getuid?.() !== 0) return t.diagnostic('it says what holds where children have their own user');
  const [, said = ''] = readFileSync(page, 'utf8').split(new RegExp(`${pageMarks[0]}|${pageMarks[1]}`));
  const hint = 'changed? node scripts/measure-isolation.ts writes the page';
  assert.equal(said.trim(), renderMeasured(measured).trim(), hint);
});

test('as an ordinary user a sandbox contains the same', async (t) => {
  if (!(await isReadableByAll(import.meta.dirname))) return t.diagnostic('other users cannot read this checkout');
  const verdicts = await measure(attempting, { isolation: 'sandbox', barriers: 'kernel', user: 1000 });
  assert.deepEqual(notContained(verdicts), {});
});

test('no handler is in the corpus twice, and no process is left of any', () => {
  const names = Object.entries({ ...attempts, ...harm }).flatMap(([group, all]) => all.map((it) => group + it.does));
  assert.equal(new Set(names).size, names.length);
  assert.deepEqual(childrenOf(process.pid), []);
});
