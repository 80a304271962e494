import type { Random } from '../support/random.ts';
import type { Schema } from './operations.ts';

/** Ids from responses, by the name of their member. */
export interface KnownIds {
  pick(name: string): string | undefined;
}

const oddTexts = [
  ...[
    '',
    ' ',
    '0',
    '-1',
    'null',
    'true',
    '../../etc/passwd',
    '%00',
    '\u0000',
    '\ud800',
    '🦆'.repeat(20),
    'a'.repeat(300),
  ],
  ...["' or 1=1 --", '"; drop table file; --', '<script>alert(1)</script>', '{{7*7}}', '\r\nX-Injected: 1'],
  ...['__proto__', 'constructor', 'İ', 'ß', '\u202e', '１２', '1e999', '0x10', 'a\u0301', '*', '%', '_', '\\', '/'],
];

/** Names of existing objects and formats. */
const knownTexts = [
  ...[
    'proof',
    'read',
    'write',
    'calculator',
    'evaluate',
    'arithmetic',
    'add',
    'record_file',
    'text',
    'file',
    'qa_sheet',
  ],
];

const oddValues: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e308, -1e308, 2 ** 53, [], {}, [[]], [null], ''],
  ...[{ __proto__: null }, { constructor: { prototype: {} } }, Array.from({ length: 200 }, () => 0)],
];

/** Generates mostly valid values, sometimes values at or beyond the bounds, and sometimes values of another kind. */
export function generateValue(schema: Schema, random: Random, ids: KnownIds, name = '', depth = 0): unknown {
  if (random.chance(0.06)) return random.pick(oddValues);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) {
    return generateValue(random.pick(choices) ?? {}, random, ids, name, depth);
  }
  if (schema.enum !== undefined) return random.pick(schema.enum);
  const type =
    typeof schema.type === 'string' ? schema.type : (random.pick(schema.type ?? []) ?? guessType(schema, random));
  if (type === 'object') return generateObject(schema, random, ids, depth);
  if (type === 'array') {
    const length = depth > 3 ? 0 : random.below(4);
    return Array.from({ length }, () => generateValue(schema.items ?? {}, random, ids, name, depth + 1));
  }
  if (type === 'integer' || type === 'number') return generateNumber(schema, random);
  if (type === 'boolean') return random.chance(0.5);
  return generateText(schema, random, ids, name);
}

function guessType(schema: Schema, random: Random): string {
  return schema.properties !== undefined
    ? 'object'
    : (random.pick(['string', 'integer', 'object', 'boolean']) ?? 'string');
}

function generateObject(schema: Schema, random: Random, ids: KnownIds, depth: number): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    const chance = schema.required?.includes(name) ? 0.96 : 0.4;
    if (random.chance(chance)) result[name] = generateValue(member, random, ids, name, depth + 1);
  }
  if (random.chance(0.08)) result[random.pick(oddTexts) ?? ''] = random.pick(oddValues);
  if (schema.properties === undefined && depth < 4) {
    for (let count = random.below(3); count > 0; count--) result[`k${count}`] = random.pick(oddTexts);
  }
  return result;
}

function generateNumber({ minimum = -10, maximum = 1_000 }: Schema, random: Random): number {
  const edges = [minimum, maximum, minimum - 1, maximum + 1, 0, 1.5, 2 ** 53, -(2 ** 31)];
  return random.chance(0.25) ? (random.pick(edges) ?? 0) : minimum + random.below(Math.max(1, maximum - minimum));
}

/** Generates a text for a member, a parameter or a path segment. */
export function generateText(schema: Schema, random: Random, ids: KnownIds, name: string): string {
  // `collection_ids` holds what other operations name `collection_id`.
  const known = ids.pick(name) ?? (name.endsWith('_ids') ? ids.pick(name.slice(0, -1)) : undefined);
  if (known !== undefined && random.chance(0.75)) return known;
  if (random.chance(0.2)) return random.pick(knownTexts) ?? '';
  if (random.chance(0.25)) return random.pick(oddTexts) ?? '';
  const { minLength = 0, maxLength = 40 } = schema;
  const length = random.chance(0.1)
    ? (random.pick([minLength, maxLength, maxLength + 1]) ?? 0)
    : random.below(Math.min(maxLength, 60));
  return Array.from({ length: Math.min(length, 70_000) }, () => 'abc déf ghi 漢字 01'[random.below(17)] ?? 'x').join(
    '',
  );
}
