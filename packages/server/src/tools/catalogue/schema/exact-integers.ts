import { _, type Ajv } from 'ajv';

/** The integers beyond 2^53 of one value, whose copy has the nearest doubles for the check of its types. */
export interface ExactIntegers {
  /** Before a check: relates the arrays and objects of the copy to those of the original. */
  reset(original: unknown, copy: unknown): void;
  /** Returns the integer at a place of the copy, or the value that the copy has there. */
  at(holder: unknown, name: string | number, value: unknown): unknown;
  /** Returns a part of the copy with its integers. */
  restore(value: unknown): unknown;
}

export function createExactIntegers(): ExactIntegers {
  let originals = new WeakMap<object, object>();
  const relate = (original: unknown, copy: unknown): void => {
    if (typeof original !== 'object' || original === null) return;
    originals.set(Object(copy), original);
    for (const [name, member] of Object.entries(original)) relate(member, Reflect.get(Object(copy), name));
  };
  let root: unknown;
  const at: ExactIntegers['at'] = (holder, name, value) => {
    const isRoot = typeof holder !== 'object' || holder === null;
    const exact: unknown = isRoot ? root : Reflect.get(originals.get(holder) ?? {}, name);
    return typeof value === 'number' && typeof exact === 'bigint' ? exact : value;
  };
  const restore = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([name, member]) => [name, restore(at(value, name, member))] as const);
    return Array.isArray(value) ? entries.map(([, member]) => member) : Object.fromEntries(entries);
  };
  return {
    reset(original, copy) {
      originals = new WeakMap();
      root = typeof original === 'bigint' ? original : undefined;
      relate(original, copy);
    },
    at,
    restore,
  };
}

type Holds = (value: number | bigint, limit: number) => boolean;

/** The keywords for numbers. JavaScript compares a BigInt with a number exactly. */
const keywords: Readonly<Record<string, Holds>> = {
  minimum: (value, limit) => value >= limit,
  maximum: (value, limit) => value <= limit,
  exclusiveMinimum: (value, limit) => value > limit,
  exclusiveMaximum: (value, limit) => value < limit,
  multipleOf: (value, limit) =>
    typeof value === 'bigint' && Number.isInteger(limit) && limit !== 0
      ? value % BigInt(limit) === 0n
      : limit !== 0 && Number.isInteger(Number(value) / limit),
};

/** Replaces the keywords for numbers in the engine for values with integers beyond 2^53. */
export function replaceNumberKeywords(ajv: Ajv, exact: ExactIntegers): void {
  for (const [keyword, holds] of Object.entries(keywords)) {
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      keyword,
      type: 'number',
      schemaType: 'number',
      errors: false,
      error: {
        message: ({ schema }) => `must be valid against ${keyword} ${String(schema)}`,
        params: ({ schema }) => _`{limit: ${Number(schema)}, multipleOf: ${Number(schema)}}`,
      },
      compile: (limit: number) => (value: number, place) =>
        holds(exact.at(place?.parentData, place?.parentDataProperty ?? '', value) as number | bigint, limit), // the type was checked
    });
  }
}
