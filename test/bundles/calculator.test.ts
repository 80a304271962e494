import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { run } from '../../bundles/calculator/evaluate.ts';
import { context, Rejected } from './handler-context.ts';

async function evaluate(expression: string): Promise<{ result: string; value: number | null }> {
  return await run({ expression }, context);
}

async function rejection(expression: string): Promise<string> {
  const failure = await evaluate(expression).then(
    ({ result }) => assert.fail(`${expression} gave ${result}`),
    (error: unknown) => error,
  );
  assert.ok(failure instanceof Rejected, String(failure));
  return failure.message;
}

const results: ReadonlyArray<readonly [expression: string, result: string]> = [
  ['5**2+7-4', '28'],
  ['5**2+8/2-3', '26'],
  ['5**2*(8-4)', '100'],
  // Precedence and grouping follow Python.
  ['-2**2', '-4'],
  ['(-2)**2', '4'],
  ['2**-1', '0.5'],
  ['2**3**2', '512'],
  ['2*-3', '-6'],
  ['--1 - +-1', '2'],
  ['10-4-3', '3'],
  ['100/10/5', '2'],
  ['2+3*4', '14'],
  // Division that rounds down, and its remainder.
  ['7//2', '3'],
  ['-7//2', '-4'],
  ['7//-2', '-4'],
  ['-7%3', '2'],
  ['7%-3', '-2'],
  ['7.5//2', '3'],
  ['-7.5%2', '0.5'],
  ['1//0.1', '9'],
  // Integers are exact.
  ['2**100', '1267650600228229401496703205376'],
  ['2**100/2', '633825300114114700748351602688'],
  ['123456789012345678901234567890+1', '123456789012345678901234567891'],
  ['factorial(25)', '15511210043330985984000000'],
  ['10/4', '2.5'],
  ['.5+5.', '5.5'],
  ['1e3+1.5E-2', '1000.015'],
  ['0.1+0.2', '0.30000000000000004'],
  ['-0.0', '0'],
  // Functions and constants.
  ['sqrt(16)', '4'],
  ['cbrt(27)', '3'],
  ['abs(-3.5)', '3.5'],
  ['round(2.5)', '2'],
  ['round(3.5)', '4'],
  ['round(-2.5)', '-2'],
  ['round(2.675, 2)', '2.67'],
  ['round(0.125, 2)', '0.12'],
  ['round(1234.5678, 2)', '1234.57'],
  ['floor(-2.5)', '-3'],
  ['ceil(2.1)', '3'],
  ['min(3, 1.5, 2)', '1.5'],
  ['max(3, 1.5, 2)', '3'],
  ['pow(2, 10)', '1024'],
  ['gcd(12, -18)', '6'],
  ['log(8, 2)', '3'],
  ['log10(1000)', '3'],
  ['log2(8)', '3'],
  ['ln(e)', '1'],
  ['log(e)', '1'],
  ['exp(0)', '1'],
  ['sin(pi/2)', '1'],
  ['cos(0)', '1'],
  ['tan(0)', '0'],
  ['asin(1)*2-pi', '0'],
  ['degrees(pi)', '180'],
  ['radians(180)-pi', '0'],
  ['tau/2-pi', '0'],
  // Sums with symbols.
  ['5*a + 4*a', '9*a'],
  ['a - a', '0'],
  ['2*(x + 3) - y/4', '2*x - 0.25*y + 6'],
  ['-a + 1', '-a + 1'],
  ['0*a', '0'],
  ['a', 'a'],
  [' 1\t+\n1 ', '2'],
];

for (const [expression, result] of results) {
  test(`${JSON.stringify(expression)} is ${result}`, async () => {
    const answer = await evaluate(expression);
    assert.equal(answer.result, result);
    assert.equal(answer.value, /[a-z]/.test(result.replace(/e[+-]/, '')) ? null : Number(result));
  });
}

const refused: ReadonlyArray<readonly [expression: string, message: RegExp]> = [
  ['', /ends too early/],
  ['1+', /ends too early/],
  ['5***', /Unexpected "\*"/],
  ['(1', /ends too early/],
  ['1)', /Unexpected "\)"/],
  ['2 3', /Unexpected "3"/],
  ['2a', /Unexpected "a"/],
  ['1.5.2', /Unexpected "\.2"/],
  ['2^3', /Unexpected "\^".*\*\*/],
  ['a.b', /Unexpected "\."/],
  ['"x"', /Unexpected/],
  ['__import__("os")', /Unexpected/],
  ['1 if 2 else 3', /Unexpected "if"/],
  ['[1]', /Unexpected "\["/],
  ['1/0', /Division by zero/],
  ['a/0', /Division by zero/],
  ['1//0', /Division by zero/],
  ['1%0.0', /Division by zero/],
  ['0**-1', /Division by zero/],
  ['sqrt(-1)', /sqrt\(\).*real number/],
  ['(-8)**(1/3)', /real number/],
  ['log(0)', /log\(\)/],
  ['asin(2)', /asin\(\)/],
  ['1e308*10', /too large/],
  ['1e999', /too large/],
  ['9**9**9', /too large.*10000/],
  ['2**10001', /too large/],
  ['(2**9999)**2', /too large/],
  ['2**9999*2**9999', /too large/],
  ['2**2000*1.5', /too large/],
  ['factorial(1001)', /0 to 1000/],
  ['factorial(-1)', /0 to 1000/],
  ['factorial(1.5)', /whole numbers/],
  ['gcd(1.5, 2)', /whole numbers/],
  ['round(1, 16)', /0 to 15/],
  ['foo(1)', /Unknown function foo\(\)\. Known: abs/],
  ['constructor(1)', /Unknown function/],
  ['sqrt()', /takes 1 values, not 0/],
  ['sqrt(1, 2)', /takes 1 values, not 2/],
  ['min()', /takes 1 to 100 values, not 0/],
  ['max(1,)', /Unexpected "\)"/],
  ['a*b', /must be a number/],
  ['a**2', /must be a number/],
  ['1/a', /must be a number/],
  ['sin(a)', /must be a number/],
  [`${'('.repeat(200)}1${')'.repeat(200)}`, /nested too deeply/],
  [`${'-'.repeat(300)}1`, /nested too deeply/],
];

for (const [expression, message] of refused) {
  test(`${JSON.stringify(expression.slice(0, 40))} is refused as bad input`, async () => {
    assert.match(await rejection(expression), message);
  });
}

test('a number beyond doubles keeps its digits and has no value', async () => {
  assert.deepEqual(await evaluate('10**400'), { result: `1${'0'.repeat(400)}`, value: null });
});

/**
 * Random expressions with the same meaning in JavaScript: no rounding division of integers, no unary operator before
 * `**`.
 */
const { expression: expressions } = fc.letrec<{ expression: string; factor: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.nat(999).map(String),
    fc.tuple(fc.nat(999), fc.nat(999)).map(([whole, part]) => `${whole}.${part}`),
    tie('expression').map((inner) => `(${inner})`),
  ),
  factor: fc.oneof(
    { weight: 6, arbitrary: tie('atom') },
    { weight: 1, arbitrary: tie('atom').map((atom) => `-${atom}`) },
    { weight: 1, arbitrary: fc.tuple(tie('atom'), fc.nat(3)).map(([base, exponent]) => `${base}**${exponent}`) },
  ),
  expression: fc
    .tuple(
      tie('factor'),
      fc.array(fc.tuple(fc.constantFrom('+', '-', '*', '/', ' + ', ' - '), tie('factor')), { maxLength: 4 }),
    )
    .map(([first, rest]) => first + rest.map(([operator, factor]) => `${operator}${factor}`).join('')),
}));

test('random expressions have the same value as in JavaScript', async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(expressions, async (expression) => {
      // `a - -b` is the same in both languages; `--b` is not.
      const source = expression.replaceAll('--', '- -');
      const expected: unknown = runInNewContext(source);
      assert.ok(typeof expected === 'number');
      if (!Number.isFinite(expected)) {
        await rejection(source);
        return;
      }
      const answer = await evaluate(source).catch((error: unknown) => error);
      // In JavaScript, 1/0 is infinite.
      if (answer instanceof Rejected) {
        assert.match(answer.message, /Division by zero|too large/);
        return;
      }
      compared += 1;
      const { value } = answer as { value: number }; // the evaluation succeeded, and the expression has no symbol
      // Integers are exact here and rounded in JavaScript. The difference of two large ones shows this, so they
      // determine the scale.
      const scale = Math.max(Math.abs(expected), largestOf(source) * Number.EPSILON);
      assert.ok(
        Math.abs(value - expected) <= 1e-9 * scale || Math.abs(value - expected) < 1e-6,
        `${value} ${expected}`,
      );
    }),
    { numRuns: 2_000 },
  );
  assert.ok(compared > 1_500, `only ${compared} expressions had a value`);
});

/** Returns a bound for every intermediate number: the value of the expression without minus signs and divisions. */
function largestOf(source: string): number {
  const bound: unknown = runInNewContext(source.replaceAll('-', ' + ').replaceAll('/', '*'));
  return typeof bound === 'number' ? bound : Number.POSITIVE_INFINITY;
}

test('any text is evaluated or refused without a crash', async () => {
  const pieces = [...'0123456789+-*/%(),. eE_ax', '**', '//', 'sqrt', 'min', 'pi', '1e308', '\u{1f600}'];
  const texts = fc.oneof(
    fc.array(fc.nat(pieces.length - 1), { maxLength: 60 }).map((picks) => picks.map((pick) => pieces[pick]).join('')),
    fc.string({ maxLength: 200 }),
  );
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      const answer = await evaluate(text).catch((error: unknown) => error);
      if (answer instanceof Error) assert.ok(answer instanceof Rejected, String(answer.stack));
    }),
    { numRuns: 3_000 },
  );
});
