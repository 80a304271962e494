import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { checkPattern } from './regular-expressions/check-pattern.ts';
import { filesWithPatterns, findPatterns } from './regular-expressions/find-patterns.ts';
import {
  createKeptJudge,
  judgePattern,
  keyOf,
  readCommittedVerdicts,
  type Verdict,
} from './regular-expressions/judge-pattern.ts';

/**
 * Asserts that every regular expression takes linear time, or that its text has a bound. It covers the server, the
 * command line, the plugin kit, the contract, the client and the handlers of bundles. It omits the console, which runs
 * in the browser of its user.
 */
const root = resolve(import.meta.dirname, '../..');
const patterns = filesWithPatterns(root).flatMap((file) => findPatterns(file));
const committed = readCommittedVerdicts();
const judge = createKeptJudge(join(root, 'node_modules/.cache/regular-expressions.json'), judgePattern, [committed]);

/** Returns the problems of the patterns in a file with this content. */
function problemsOf(text: string): string[] {
  return findPatterns(join(root, 'planted.ts'), text)
    .map((pattern) => checkPattern({ ...pattern, file: 'planted.ts' }, judge))
    .filter((problem) => problem !== undefined);
}

test('every regular expression takes linear time, or its text has a bound beside it', () => {
  assert.ok(patterns.length > 400, `only ${patterns.length} patterns found`);
  const problems = patterns.map((pattern) => checkPattern({ ...pattern, file: relative(root, pattern.file) }, judge));
  assert.deepEqual(
    problems.filter((problem) => problem !== undefined),
    [],
  );
});

/** Each run reaches some of the verdicts again, others on each day. */
test('the verdicts in the repository are those of the checker', (t) => {
  const texts = patterns.flatMap(({ source, flags }) => (source === null ? [] : [{ source, flags }]));
  const unique = [...new Map(texts.map((one) => [keyOf(one.source, one.flags), one])).values()];
  const day = Math.floor(Date.now() / 86_400_000);
  const sample = unique.filter((_, index) => (index + day) % 20 === 0);
  t.diagnostic(`day ${day}: ${sample.length} of ${unique.length} patterns`);
  for (const { source, flags } of sample) {
    const verdict = committed.verdicts[keyOf(source, flags)];
    const { growth, degree } = judgePattern(source, flags);
    if (verdict !== undefined) assert.deepEqual([verdict.growth, verdict.degree ?? Infinity], [growth, degree], source);
  }
  const missing = unique.filter(({ source, flags }) => committed.verdicts[keyOf(source, flags)] === undefined);
  // A few new patterns take a second. More than that make every fresh clone slow.
  const hint = 'node test/compat/regular-expressions/write-verdicts.ts writes them';
  assert.ok(missing.length < unique.length / 5, `${missing.length} patterns have no verdict; ${hint}`);
});

test('a pattern that takes exponential time is refused, also with a bound', () => {
  const quoted = String.raw`/^"((?:\\["\\]|[^"])*)"/`;
  assert.match(
    problemsOf(`const quoted = ${quoted};`).join(),
    /^planted\.ts:1: .+ takes exponential time, for example on/,
  );
  assert.match(
    problemsOf(`// bounded: at most 40 characters (a name)\nconst quoted = ${quoted};`).join(),
    /exponential time/,
  );
});

test('a pattern that takes quadratic time is refused unless its bound is low enough', () => {
  const trim = String.raw`text.replace(/^[ \t]+|[ \t]+$/g, '')`;
  assert.match(problemsOf(trim).join(), /polynomial time; write it so that/);
  assert.deepEqual(problemsOf(`// bounded: at most 2,000 characters (a header)\n${trim}`), []);
  assert.deepEqual(problemsOf(`${trim}; // bounded: at most 255 characters (a header)`), []);
  assert.match(
    problemsOf(`// bounded: at most 4,000 characters (a header)\n${trim}`).join(),
    /4,000 characters are too many/,
  );
  assert.match(problemsOf(`// bounded: at most 255 characters (a header)\n\n${trim}`).join(), /say beside it/);
});

test('a pattern in a text is found through constants and imports', () => {
  const slow = [
    "new RegExp('a+$')",
    "RegExp('a+$', 'g')",
    `const one = 'a';\nconst slow = new RegExp(\`\${one}+$\`)`,
    "new RegExp(['b', 'a+' + '$'].join('|'))",
    "Type.String({ pattern: 'a+$' })",
  ];
  for (const text of slow) assert.match(problemsOf(text).join(), /polynomial time/, text);
  const imported = "import { frequencySeparator } from './packages/server/src/stores/search/analysis/tokenizer.ts';\n";
  assert.match(problemsOf(`${imported}new RegExp(\`\${frequencySeparator}+$\`)`).join(), /polynomial time/);
});

test('a pattern that is composed at run time needs a reason', () => {
  const composed = 'new RegExp(wanted)';
  assert.match(problemsOf(composed).join(), /planted\.ts:1: the pattern is composed at run time/);
  assert.deepEqual(problemsOf(`// composed: a list of our own constants.\n${composed}`), []);
});

test('a pattern that the checker cannot judge is refused without a bound', () => {
  const unknown = (): Verdict => ({ growth: 'unknown', degree: Number.POSITIVE_INFINITY, attack: '' });
  const [pattern] = findPatterns('planted.ts', 'const one = /a/;');
  assert.ok(pattern !== undefined);
  assert.match(checkPattern(pattern, unknown) ?? '', /takes unknown time/);
  const bounded = { ...pattern, note: 'bounded: at most 20 characters (a code)' };
  assert.equal(checkPattern(bounded, unknown), undefined);
});

test('a verdict is cached until the checker changes', () => {
  const file = join(tmpdir(), `verdicts-${process.pid}.json`);
  let judged = 0;
  const count = (): Verdict => {
    judged += 1;
    return { growth: 'linear', degree: 1, attack: '' };
  };
  try {
    for (let run = 0; run < 2; run += 1) createKeptJudge(file, count)('a', 'g');
    assert.equal(judged, 1);
    createKeptJudge(file, count)('a', '');
    assert.equal(judged, 2);
  } finally {
    rmSync(file, { force: true });
  }
});
