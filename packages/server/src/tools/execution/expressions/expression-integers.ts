/** A number of a JSON value. Integers beyond 2^53 are BigInt (`platform/json/exact-json.ts`). */
type JsonNumber = number | bigint;

const isNumber = (value: unknown): value is JsonNumber => typeof value === 'number' || typeof value === 'bigint';
const areNumbers = (values: readonly unknown[]): values is readonly JsonNumber[] => values.every(isNumber);

/** Compares exactly, also a BigInt with a number. */
const compare = (a: JsonNumber, b: JsonNumber): number => (a < b ? -1 : Number(a > b));

/** The comparators of expressions for two numbers of which at least one is a BigInt. */
export function compareIntegers(name: string, left: unknown, right: unknown): boolean | undefined {
  if (!isNumber(left) || !isNumber(right)) return undefined;
  const order = compare(left, right);
  if (name === 'GT') return order > 0;
  if (name === 'GTE') return order >= 0;
  if (name === 'LT') return order < 0;
  return name === 'LTE' ? order <= 0 : undefined;
}

/** Whether a number and a BigInt are equal, which `===` never says. */
export function areEqualNumbers(left: unknown, right: unknown): boolean {
  return isNumber(left) && isNumber(right) && compare(left, right) === 0;
}

const exactOperators: Readonly<Record<string, (left: bigint, right: bigint) => bigint>> = {
  Plus: (left, right) => left + right,
  Minus: (left, right) => left - right,
  Multiply: (left, right) => left * right,
  Star: (left, right) => left * right,
};

/**
 * Calculates with numbers of which one may be a BigInt; the library knows only doubles. Sums, differences and products of integers
 * are exact, other results are doubles.
 * @throws Error with the type that the specification of JMESPath names, when an operand is not a number
 */
export function calculate(operator: string, left: unknown, right: unknown): JsonNumber {
  assertNumber(left);
  assertNumber(right);
  const exact = typeof left === 'bigint' || typeof right === 'bigint' ? exactOperators[operator] : undefined;
  if (exact !== undefined && isInteger(left) && isInteger(right)) return shortest(exact(BigInt(left), BigInt(right)));
  const [a, b] = [Number(left), Number(right)];
  if (operator === 'Plus') return a + b;
  if (operator === 'Minus') return a - b;
  if (operator === 'Modulo') return a % b;
  if (operator !== 'Divide' && operator !== 'Div') return a * b;
  if (b === 0 || Number.isNaN(b)) throw new Error('not-a-number: divide by zero');
  return operator === 'Divide' ? a / b : Math.floor(a / b);
}

/** The value of an operator with one operand: plus or minus. @throws Error when the operand is not a number */
export function calculateSign(operator: string, operand: unknown): JsonNumber {
  assertNumber(operand);
  return operator === 'Minus' ? -operand : operand;
}

function assertNumber(value: unknown): asserts value is JsonNumber {
  if (!isNumber(value))
    throw new Error(value === null || value === undefined ? 'not-a-number: undefined' : 'not-a-number');
}

const isInteger = (number: JsonNumber) => typeof number === 'bigint' || Number.isInteger(number);

/** A BigInt only beyond 2^53, as parsed JSON has it. Above the largest double it is infinity, which bounds the digits of products. */
function shortest(integer: bigint): JsonNumber {
  const double = Number(integer);
  return Number.isSafeInteger(double) || !Number.isFinite(double) ? double : integer;
}

/** Functions whose first argument is a BigInt. */
const ofInteger: Readonly<Record<string, (integer: bigint) => unknown>> = {
  abs: (integer) => (integer < 0n ? -integer : integer),
  ceil: (integer) => integer,
  floor: (integer) => integer,
  to_number: (integer) => integer,
  type: () => 'number',
};

/** Functions whose first argument is an array of numbers with at least one BigInt. */
const ofIntegers: Readonly<Record<string, (numbers: readonly JsonNumber[]) => unknown>> = {
  avg: (numbers) => Number(sum(numbers)) / numbers.length,
  max: (numbers) => numbers.reduce((most, number) => (number > most ? number : most)),
  min: (numbers) => numbers.reduce((least, number) => (number < least ? number : least)),
  sort: (numbers) => numbers.toSorted(compare),
  sum,
};

/** The sum of integers is exact. With a fraction, it is a double. */
function sum(numbers: readonly JsonNumber[]): JsonNumber {
  if (!numbers.every(isInteger)) {
    return numbers.reduce((total: number, number) => total + Number(number), 0);
  }
  return shortest(numbers.reduce((total: bigint, number) => total + BigInt(number), 0n));
}

/** Calls a function of numbers that the library has only for doubles. @returns undefined for other arguments */
export function callWithIntegers(name: string, [subject]: readonly unknown[]): unknown {
  if (typeof subject === 'bigint') return Object.hasOwn(ofInteger, name) ? ofInteger[name]?.(subject) : undefined;
  if (!Object.hasOwn(ofIntegers, name) || !Array.isArray(subject) || !areNumbers(subject)) return undefined;
  return subject.some((item) => typeof item === 'bigint') ? ofIntegers[name]?.(subject) : undefined;
}

interface Keyed {
  readonly item: unknown;
  readonly key: unknown;
}
const isKeyedByNumber = (keyed: Keyed): keyed is { item: unknown; key: JsonNumber } => isNumber(keyed.key);

/** `sort_by`, `max_by` and `min_by` for keys that are numbers. @returns undefined when another key is found */
export function orderByNumbers(name: string, keyed: readonly Keyed[]): unknown {
  if (!keyed.every(isKeyedByNumber)) return undefined;
  if (name === 'sort_by') return keyed.toSorted((a, b) => compare(a.key, b.key)).map(({ item }) => item);
  const sign = name === 'max_by' ? 1 : -1;
  return keyed.reduce((best, next) => (sign * compare(next.key, best.key) > 0 ? next : best)).item;
}
