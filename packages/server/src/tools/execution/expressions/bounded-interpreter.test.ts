import assert from 'node:assert/strict';
import { test } from 'node:test';
import jmespath, { type JSONValue } from '@jmespath-community/jmespath';
import fc from 'fast-check';
import { jsonSize } from '../../../platform/json/json-size.ts';
import { evaluateExpression } from './bounded-interpreter.ts';
import { createExpressionBudget, ExpressionTooExpensive, mostSteps } from './expression-budget.ts';

type Result = { readonly value: string | undefined } | { readonly error: true };

function byLibrary(expression: string, data: JSONValue): Result {
  try {
    return { value: JSON.stringify(jmespath.search(data, expression)) };
  } catch {
    return { error: true };
  }
}

function bounded(expression: string, data: JSONValue, steps?: number): Result {
  try {
    return {
      value: JSON.stringify(evaluateExpression(jmespath.compile(expression), data, createExpressionBudget(steps))),
    };
  } catch (error) {
    if (error instanceof ExpressionTooExpensive) throw error;
    return { error: true };
  }
}

/** Generates expressions of the whole language over the members `a`, `b`, `s` and `n`. */
const expressions = fc.letrec<{ expression: string; key: string }>((tie) => {
  const inner = tie('expression');
  const of = (parts: (one: string, two: string, three: string) => string) =>
    fc.tuple(inner, inner, inner).map(([a, b, c]) => parts(a, b, c));
  const call = (name: string, count: number, last?: fc.Arbitrary<string>) =>
    fc
      .tuple(...Array.from({ length: count }, () => inner), ...(last === undefined ? [] : [last]))
      .map((args) => `${name}(${args.join(', ')})`);
  const key = fc.oneof(
    inner.map((one) => `&${one}`),
    fc.constantFrom('&a', '&s', '&@', '&n'),
  );
  const one = `abs avg ceil floor from_items items keys length lower max min reverse sort sum to_array
    to_string trim trim_left trim_right type upper values merge not_null zip`.split(/\s+/);
  const two = `contains ends_with starts_with find_first find_last join split merge not_null zip trim`.split(/\s+/);
  return {
    key,
    expression: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(
        '@',
        '$',
        'a',
        'b',
        's',
        'n',
        'a[*]',
        'b[]',
        'a[0]',
        'b[-1]',
        's[1:3]',
        'b[::-1]',
        "' x y '",
        '`[3,1,2]`',
        '`["b","a","ü","😀"]`',
        '`{}`',
        '`2`',
        '*',
        "'x'",
      ),
      of((x, y) => `${x} | ${y}`),
      of((x, y) => `(${x}).${'a'} || ${y}`),
      of((x, y) => `${x} && ${y}`),
      of((x) => `!(${x})`),
      of((x, y) => `(${x}) == (${y})`),
      of((x, y) => `(${x}) != (${y})`),
      of((x, y) => `(${x}) < (${y})`),
      of((x, y) => `(${x}) + (${y})`),
      of((x, y) => `[${x}, ${y}]`),
      of((x, y) => `{p: ${x}, q: ${y}}`),
      of((x) => `(${x})[]`),
      of((x, y) => `(${x})[?${y}]`),
      of((x, y) => `(${x})[*].[${y}]`),
      of((x) => `(${x}).*`),
      of((x, y, z) => `(${x}) ? (${y}) : (${z})`),
      of((x, y) => `let $v = ${x}, $w = $v in [$v, ${y}]`),
      of((x) => `(${x})[1:]`),
      of((x) => `(${x})[::2]`),
      ...one.map((name) => call(name, 1)),
      ...two.map((name) => call(name, 2)),
      call('replace', 3),
      call('replace', 3, fc.constantFrom('`0`', '`1`', '`3`')),
      call('pad_left', 1, fc.constantFrom('`5`', '`0`')),
      call('split', 2, fc.constantFrom('`0`', '`1`')),
      fc.tuple(inner, key).map(([x, k]) => `map(${k}, ${x})`),
      ...['sort_by', 'group_by', 'max_by', 'min_by'].map((name) =>
        fc.tuple(inner, key).map(([x, k]) => `${name}(${x}, ${k})`),
      ),
    ),
  };
}).expression;

const samples: JSONValue[] = [
  {
    a: [
      { a: 1, s: 'x' },
      { a: 2, s: 'b' },
      { a: 2, s: 'a' },
    ],
    b: [[1, 2], [3], 'z', null],
    s: '  hé y😀x ',
    n: -3,
  },
  { a: ['x', 'y', 'x'], b: [3, 1, 2], s: '', n: 0 },
  {
    a: { a: { a: [] }, b: 's' },
    b: [
      ['k', 1],
      ['j', { a: 2 }],
    ],
    s: 'x,y,x',
    n: 1.5,
  },
];

test('every expression gives the same value as the reference library', () => {
  let evaluated = 0;
  fc.assert(
    fc.property(expressions, fc.constantFrom(...samples), (expression, data) => {
      const expected = byLibrary(expression, data);
      if ('value' in expected) evaluated += 1;
      assert.deepEqual(bounded(expression, data, 50_000_000), expected, expression);
    }),
    { numRuns: 20_000 },
  );
  assert.ok(evaluated > 1_000, `${evaluated} with a value`);
});

const doubled = (times: number, step: string) => Array.from({ length: times }, () => step).join(' | ');
const numbers = Array.from({ length: 3_000 }, (_, index) => index);
const manyKeys = Object.fromEntries(numbers.map((number) => [`k${number}`, number]));
const long = 'ab'.repeat(200_000);

/** Expressions that would run for a very long time or need gigabytes without a bound. */
const hostile: Record<string, [expression: string, data: JSONValue]> = {
  'an array doubled, then its text': [`to_string(${doubled(27, '[@, @]')})`, { a: 1 }],
  'an array doubled, then compared': [
    `let $x = ${doubled(40, '[@, @]')} in $x == [($x)[0], ($x)[1]]`.replace('$x ==', '$x =='),
    { a: 1 },
  ],
  'an array flattened while it doubles': [`length(${doubled(60, '[@, @][]')})`, [1]],
  'a list flattened while it doubles': [`length(${doubled(22, '[@, @][]')})`, numbers],
  'a text that doubles': [`length(${doubled(40, "join('', [@, @])")})`, 'x'],
  padding: ["pad_left('x', `500000000`)", null],
  'replacing that doubles': ["replace('aaaa', 'a', 'a$`$\\'', `60`)", null],
  'replacing as often as asked for': ["replace('a', 'b', 'c', `1000000000`)", null],
  'splitting into characters': ["map(&split($, ''), split($, ''))", long],
  'a search that fails late': [
    '[?contains($.s, $.t)]'.replace('[?', 'n[?'),
    { n: numbers, s: 'a'.repeat(100_000), t: `b${'a'.repeat(50_000)}` },
  ],
  'trimming blanks in the middle': ['map(&trim($.s), n)', { n: numbers, s: `x${' '.repeat(100_000)}x` }],
  'a condition on many members for each item': ['n[?$.o]  | [*].keys($.o)', { n: numbers, o: manyKeys }],
  'members listed for each item': ['n[*].values($.o)', { n: numbers, o: manyKeys }],
  'members merged for each item': ['n[*].merge($.o, $.o)', { n: numbers, o: manyKeys }],
  'every item with every other': ['n[*].[$.n[*].[$.n[*]]]', { n: numbers }],
  'sorting for each item': ['n[*].[sort($.t)]', { n: numbers, t: numbers.map(String) }],
  'sorting long texts alike': [
    'sort(map(&join(@, [$.s, `""`]), t))',
    { s: 'a'.repeat(20_000), t: numbers.map(String) },
  ],
  'numbers sorted': ['n[*].[sort($.n)]', { n: numbers }],
  'slices of long texts': ['n[*].[$.s[::-1]]', { n: numbers, s: long }],
  'variables that copy each other': [
    `n[*].[let ${numbers
      .slice(0, 200)
      .map((n) => `$v${n} = @`)
      .join(', ')} in $v0]`,
    { n: numbers },
  ],
  'a node that came with the data': [
    'map(body, n)',
    {
      n: numbers,
      body: { expref: true, type: 'Projection', left: { type: 'Root' }, right: { type: 'Root' } } as never,
    },
  ],
  'the least text': ['n[*].[max($.t)]', { n: numbers, t: numbers.map(String) }],
};

for (const [name, [expression, data]] of Object.entries(hostile)) {
  test(`an expression of ${name} is bounded`, () => {
    assert.ok(expression.length <= 4_096);
    const compiled = jmespath.compile(expression);
    const budget = createExpressionBudget();
    try {
      const value = evaluateExpression(compiled, data, budget);
      assert.ok(budget.left >= 0);
      assert.ok(jsonSize(value, 1024 * 1024) > 0);
    } catch (error) {
      assert.ok(error instanceof Error);
      assert.ok(budget.left > -mostSteps * 1_000 || error instanceof ExpressionTooExpensive, error.message);
    }
  });
}

test('generated expressions over large data end within their budget, or are stopped', () => {
  const data = { a: numbers, b: numbers.map((n) => [n, String(n)]), s: long, n: 7 } as JSONValue;
  const nested = fc.array(expressions, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(' | '));
  let stopped = 0;
  fc.assert(
    fc.property(nested, fc.nat(20), (expression, times) => {
      const repeated = `${expression} | ${doubled(times + 1, '[@, @]')} | to_string(@) | length(@)`;
      try {
        bounded(repeated.length > 4_096 ? expression : repeated, data);
      } catch (error) {
        assert.ok(error instanceof ExpressionTooExpensive);
        stopped += 1;
      }
    }),
    { numRuns: 1_000 },
  );
  assert.ok(stopped > 10, `${stopped} stopped`);
});

test('a number in an empty text is unknown, not 0', () => {
  for (const text of ['', ' ', '\n', 'n/a']) {
    assert.deepEqual(bounded('to_number(@)', text), { value: 'null' }, JSON.stringify(text));
  }
  assert.deepEqual(bounded("[to_number('0'), to_number(' 1.5 '), to_number(`2`)]", null), { value: '[0,1.5,2]' });
});

test('html_text returns the text of HTML, and leaves text that only looks like it', () => {
  for (const [html, text] of [
    ['J&#246;rg &amp; S&ouml;hne', 'Jörg & Söhne'],
    ['Dev &#8211; <em>Senior</em>', 'Dev – Senior'],
    ['&lt;div&gt; or <span class="searchmatch">a</span>&quot;', '<div> or a"'],
    ['<p>One</p><p>two<br/>three</p><!-- four -->', 'One\n\ntwo\nthree'],
    ['a < b and c > d, x <y', 'a < b and c > d, x <y'],
    ['&amp;lt;', '&lt;'],
    ['', ''],
  ] as const) {
    assert.deepEqual(bounded('html_text(@)', html), { value: JSON.stringify(text) });
  }
  assert.deepEqual(bounded('[html_text(@), html_text(`1`)]', null), { value: '[null,null]' });
  assert.throws(() => bounded('html_text(@)', '<'.repeat(10_000), 100), ExpressionTooExpensive);
});
