import type { Handler } from '@quartermaster/plugin-kit';

/** As in Python: whole numbers are exact (`bigint`), the others are IEEE doubles. */
type Scalar = bigint | number;
/** `5*a + 1` is `{'a' → 5n, '' → 1n}`; a plain number has the key `''` only. */
type Sum = ReadonlyMap<string, Scalar>;

const maxBits = 10_000;
const maxDepth = 100;
class InvalidExpression extends Error {}

function invalid(message: string): never {
  throw new InvalidExpression(message);
}

export const run: Handler<{ expression: string }, { result: string; value: number | null }> = (
  { expression },
  context,
) => {
  try {
    const sum = parse(expression);
    const number = numberOf(sum);
    if (number === undefined) return { result: print(sum), value: null };
    return { result: String(number), value: Number.isFinite(Number(number)) ? Number(number) : null };
  } catch (error) {
    if (error instanceof InvalidExpression) return context.reject(error.message);
    throw error;
  }
};

const isWhole = (scalar: Scalar): scalar is bigint => typeof scalar === 'bigint';
const isZero = (scalar: Scalar): boolean => Number(scalar) === 0;
const bitsOf = (scalar: bigint): number => (scalar < 0n ? -scalar : scalar).toString(2).length;

function real(value: number, what: string): number {
  return Number.isFinite(value) ? value : invalid(`The result of ${what} is too large or is not a real number.`);
}

function bounded(bits: number, what: string): void {
  if (bits > maxBits) invalid(`The result of ${what} is too large: at most ${maxBits} binary digits.`);
}

function add(a: Scalar, b: Scalar): Scalar {
  return isWhole(a) && isWhole(b) ? a + b : real(Number(a) + Number(b), 'the sum');
}

function multiply(a: Scalar, b: Scalar): Scalar {
  if (!isWhole(a) || !isWhole(b)) return real(Number(a) * Number(b), 'the product');
  bounded(bitsOf(a) + bitsOf(b), 'the product');
  return a * b;
}

/** An exact quotient of whole numbers stays whole, so that `2**100/2` loses nothing. */
function divide(a: Scalar, b: Scalar): Scalar {
  if (isWhole(a) && isWhole(b) && a % b === 0n) return a / b;
  return real(Number(a) / Number(b), 'the quotient');
}

/** The remainder takes the sign of the divisor and the quotient is rounded down, as in Python. */
function floorDivide(a: Scalar, b: Scalar): { quotient: Scalar; remainder: Scalar } {
  if (isWhole(a) && isWhole(b)) {
    const rest = a % b;
    const remainder = rest !== 0n && rest < 0n !== b < 0n ? rest + b : rest;
    return { quotient: (a - remainder) / b, remainder };
  }
  const [x, y] = [Number(a), Number(b)];
  const rest = real(x % y, 'the remainder');
  const remainder = rest !== 0 && rest < 0 !== y < 0 ? rest + y : rest;
  return { quotient: real(Math.round((x - remainder) / y), 'the quotient'), remainder };
}

function power(base: Scalar, exponent: Scalar): Scalar {
  if (isZero(base) && Number(exponent) < 0) return invalid('Division by zero: zero to a negative power.');
  if (!isWhole(base) || !isWhole(exponent) || exponent < 0n) {
    return real(Number(base) ** Number(exponent), 'the power');
  }
  if (base >= -1n && base <= 1n) return base ** (exponent === 0n ? 0n : 2n - (exponent % 2n));
  // A power has at least (bits - 1) × exponent bits, so one that is too large is refused before it is computed.
  bounded((bitsOf(base) - 1) * Number(exponent), 'the power');
  return base ** exponent;
}

/** Rounds halves to even, on the exact binary value, as in Python: round(2.5) is 2, round(2.675, 2) is 2.67. */
function round(scalar: Scalar, digits: Scalar = 0n): Scalar {
  const places = Number(digits);
  if (!Number.isInteger(places) || places < 0 || places > 15) return invalid('round() takes 0 to 15 digits.');
  if (isWhole(scalar)) return scalar;
  if (Math.abs(scalar) >= 2 ** 53) return places === 0 ? BigInt(scalar) : scalar;
  const [, whole = '', fraction = ''] = /^-?(\d+)\.(\d+)$/.exec(scalar.toFixed(60)) ?? [];
  const rest = fraction.slice(places);
  const scaled = BigInt(whole + fraction.slice(0, places));
  const isUp = /^50*$/.test(rest) ? scaled % 2n === 1n : rest >= '5';
  const rounded = (isUp ? scaled + 1n : scaled) * (scalar < 0 ? -1n : 1n);
  return places === 0 ? rounded : Number(`${rounded}e-${places}`);
}

type Compute = (...values: Scalar[]) => Scalar;

/** A function of doubles, named in its own errors. */
function ofReals(name: string, compute: (...values: number[]) => number): Compute {
  return (...values) => real(compute(...values.map(Number)), `${name}()`);
}

function toWhole(scalar: Scalar, name: string): bigint {
  if (isWhole(scalar)) return scalar;
  if (!Number.isInteger(scalar)) return invalid(`${name} takes whole numbers, not ${scalar}.`);
  return BigInt(scalar);
}

const toward = (compute: (value: number) => number) => (value: Scalar) =>
  BigInt(isWhole(value) ? value : compute(value));

function factorial(scalar: Scalar): bigint {
  const n = toWhole(scalar, 'factorial()');
  if (n < 0n || n > 1000n) return invalid('factorial() takes 0 to 1000.');
  let product = 1n;
  for (let factor = 2n; factor <= n; factor += 1n) product *= factor;
  return product;
}

function greatestCommonDivisor(...values: Scalar[]): bigint {
  let result = 0n;
  for (const value of values) {
    let other = toWhole(value, 'gcd()');
    while (other !== 0n) [result, other] = [other, result % other];
  }
  return result < 0n ? -result : result;
}

const lesser = (a: Scalar, b: Scalar): Scalar => (a > b ? b : a);
const logarithm = (value: number, base?: number): number =>
  base === undefined ? Math.log(value) : base > 0 ? Math.log(value) / Math.log(base) : Number.NaN;

const reals = ['sqrt', 'cbrt', 'exp', 'log2', 'log10', 'sin', 'cos', 'tan', 'asin', 'acos', 'atan'] as const;
/** The minimum and maximum number of arguments, and the function. */
const functions: ReadonlyMap<string, readonly [number, number, Compute]> = new Map<string, [number, number, Compute]>([
  ['abs', [1, 1, (value: Scalar) => (value < 0 ? -value : value)]],
  ['round', [1, 2, round]],
  ['floor', [1, 1, toward(Math.floor)]],
  ['ceil', [1, 1, toward(Math.ceil)]],
  ['min', [1, 100, (...values) => values.reduce(lesser)]],
  ['max', [1, 100, (...values) => values.reduce((a, b) => (lesser(a, b) === a ? b : a))]],
  ['pow', [2, 2, power]],
  ['factorial', [1, 1, factorial]],
  ['gcd', [1, 100, greatestCommonDivisor]],
  ['log', [1, 2, ofReals('log', logarithm)]],
  ['ln', [1, 1, ofReals('ln', Math.log)]],
  ['degrees', [1, 1, ofReals('degrees', (value) => (value * 180) / Math.PI)]],
  ['radians', [1, 1, ofReals('radians', (value) => (value * Math.PI) / 180)]],
  ...reals.map((name): [string, [number, number, Compute]] => [name, [1, 1, ofReals(name, Math[name])]]),
]);

const constants: Readonly<Record<string, number>> = { pi: Math.PI, e: Math.E, tau: 2 * Math.PI };

function call(name: string, values: Scalar[]): Scalar {
  const known =
    functions.get(name) ?? invalid(`Unknown function ${name}(). Known: ${[...functions.keys()].join(' ')}.`);
  const [fewest, most, compute] = known;
  if (values.length >= fewest && values.length <= most) return compute(...values);
  return invalid(`${name}() takes ${fewest === most ? fewest : `${fewest} to ${most}`} values, not ${values.length}.`);
}

const ofScalar = (scalar: Scalar): Sum => new Map(isZero(scalar) ? [] : [['', scalar]]);

/** Undefined when a symbol is left. */
function numberOf(sum: Sum): Scalar | undefined {
  return sum.size === 1 ? sum.get('') : sum.size === 0 ? 0n : undefined;
}

function numberIn(sum: Sum, where: string): Scalar {
  return numberOf(sum) ?? invalid(`${where} must be a number: symbols can only be added and multiplied by numbers.`);
}

function addSums(a: Sum, b: Sum, sign: bigint): Sum {
  const sum = new Map(a);
  for (const [symbol, factor] of b) {
    const total = add(sum.get(symbol) ?? 0n, multiply(factor, sign));
    if (isZero(total)) sum.delete(symbol);
    else sum.set(symbol, total);
  }
  return sum;
}

const mapSum = (sum: Sum, change: (factor: Scalar) => Scalar): Sum =>
  new Map(
    [...sum].map(([symbol, factor]) => [symbol, change(factor)] as const).filter(([, factor]) => !isZero(factor)),
  );

function combine(a: Sum, b: Sum, operator: string): Sum {
  if (operator === '+' || operator === '-') return addSums(a, b, operator === '+' ? 1n : -1n);
  if (operator === '*') {
    const [sum, number] = numberOf(b) === undefined ? [b, numberIn(a, 'One side of *')] : [a, numberIn(b, '*')];
    return mapSum(sum, (factor) => multiply(factor, number));
  }
  const divisor = numberIn(b, `The right side of ${operator}`);
  if (isZero(divisor)) return invalid('Division by zero.');
  if (operator === '/') return mapSum(a, (factor) => divide(factor, divisor));
  const { quotient, remainder } = floorDivide(numberIn(a, `The left side of ${operator}`), divisor);
  return ofScalar(operator === '%' ? remainder : quotient);
}

function print(sum: Sum): string {
  const terms = [...sum].sort(([a], [b]) => (a === '' ? 1 : b === '' ? -1 : a < b ? -1 : 1));
  const texts = terms.map(([symbol, factor]) => {
    if (symbol === '') return String(factor);
    return Number(factor) === 1 ? symbol : Number(factor) === -1 ? `-${symbol}` : `${factor}*${symbol}`;
  });
  return texts.join(' + ').replaceAll('+ -', '- ');
}

const token = /\s*((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[A-Za-z_]\w*|\*\*|\/\/|[-+*/%(),])/y;

function tokenize(expression: string): string[] {
  const tokens: string[] = [];
  const end = expression.trimEnd().length;
  for (let position = 0; position < end; position = token.lastIndex) {
    token.lastIndex = position;
    const text = token.exec(expression)?.[1];
    if (text === undefined) {
      const found = expression.slice(position).trimStart().charAt(0);
      return invalid(`Unexpected "${found}" in the expression.${found === '^' ? ' Powers are written **.' : ''}`);
    }
    tokens.push(text);
  }
  return tokens;
}

interface Reader {
  readonly tokens: readonly string[];
  next: number;
  depth: number;
}

function take(reader: Reader, ...texts: string[]): string | undefined {
  const text = reader.tokens[reader.next];
  if (text === undefined || !texts.includes(text)) return undefined;
  reader.next += 1;
  return text;
}

function unexpected({ tokens, next }: Reader): never {
  return invalid(next < tokens.length ? `Unexpected "${tokens[next]}".` : 'The expression ends too early.');
}

/** Recursive descent with Python's grammar and precedences: `-2**2` is -4 and `2**-1` is 0.5. */
function parse(expression: string): Sum {
  const reader: Reader = { tokens: tokenize(expression), next: 0, depth: 0 };
  const sum = parseSum(reader);
  return reader.next < reader.tokens.length ? unexpected(reader) : sum;
}

function parseChain(reader: Reader, operators: readonly string[], parseOperand: (reader: Reader) => Sum): Sum {
  let left = parseOperand(reader);
  for (let operator = take(reader, ...operators); operator !== undefined; operator = take(reader, ...operators)) {
    left = combine(left, parseOperand(reader), operator);
  }
  return left;
}

const parseProduct = (reader: Reader): Sum => parseChain(reader, ['*', '/', '//', '%'], parseFactor);
const parseSum = (reader: Reader): Sum => parseChain(reader, ['+', '-'], parseProduct);

function parseFactor(reader: Reader): Sum {
  reader.depth += 1;
  if (reader.depth > maxDepth) invalid(`The expression is nested too deeply: at most ${maxDepth} levels.`);
  const sign = take(reader, '+', '-');
  const factor = sign === undefined ? parsePower(reader) : parseFactor(reader);
  reader.depth -= 1;
  return sign === '-' ? mapSum(factor, (scalar) => -scalar) : factor;
}

function parsePower(reader: Reader): Sum {
  const base = parseAtom(reader);
  if (take(reader, '**') === undefined) return base;
  const exponent = numberIn(parseFactor(reader), 'An exponent');
  return ofScalar(power(numberIn(base, 'The base of a power'), exponent));
}

function parseAtom(reader: Reader): Sum {
  if (take(reader, '(') !== undefined) {
    const inner = parseSum(reader);
    return take(reader, ')') === undefined ? unexpected(reader) : inner;
  }
  const text = reader.tokens[reader.next] ?? '';
  if (!/^[\w.]/.test(text)) return unexpected(reader);
  reader.next += 1;
  if (/^\d+$/.test(text)) return ofScalar(BigInt(text));
  if (/^[\d.]/.test(text)) return ofScalar(real(Number(text), 'reading a number'));
  if (take(reader, '(') !== undefined) return ofScalar(call(text, parseArguments(reader, text)));
  const constant = Object.hasOwn(constants, text) ? constants[text] : undefined;
  return constant === undefined ? new Map([[text, 1n]]) : ofScalar(constant);
}

function parseArguments(reader: Reader, name: string): Scalar[] {
  const values: Scalar[] = [];
  if (take(reader, ')') !== undefined) return values;
  do values.push(numberIn(parseSum(reader), `An argument of ${name}()`));
  while (take(reader, ',') !== undefined);
  return take(reader, ')') === undefined ? unexpected(reader) : values;
}
