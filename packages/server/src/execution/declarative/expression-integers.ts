/** A number of a JSON value. Integers beyond 2^53 are BigInt (`kernel/json/exact-json.ts`). */
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
  if (!numbers.every((number) => typeof number === 'bigint' || Number.isInteger(number))) {
    return numbers.reduce((total: number, number) => total + Number(number), 0);
  }
  const total = numbers.reduce((total: bigint, number) => total + BigInt(number), 0n);
  const double = Number(total);
  return Number.isSafeInteger(double) ? double : total;
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
