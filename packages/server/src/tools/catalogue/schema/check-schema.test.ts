import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkSchema } from './check-schema.ts';
import { createSchemaCompiler, type JsonSchema } from './compile-schema.ts';
import { createErrorCollector } from './error-collector.ts';

const numbers = fc.oneof(fc.integer({ min: -2, max: 5 }), fc.double({ noDefaultInfinity: true, noNaN: true }));
const types = fc.constantFrom('number', 'string', 'array', 'null', 'object', 'integer', 'boolean');
const scalars = fc.oneof(types, fc.constantFrom('', 'a', 'nothing'), numbers, fc.boolean(), fc.constant(null));
const data = fc.oneof(scalars, fc.array(scalars, { maxLength: 3 }), fc.dictionary(fc.string(), scalars));
const names = fc.constantFrom('a', 'b', 'toString', '^a');
const counts = fc.integer({ min: 0, max: 5 });

type Values = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Valid kinds of values for each keyword. */
const values: Values = {
  type: fc.oneof(types, fc.uniqueArray(types, { minLength: 1, maxLength: 3 })),
  enum: fc.array(data, { maxLength: 3 }),
  pattern: fc.constantFrom('^a+$', '(a', '(?=a)', '\\1', '[', '^[\\w-]+$', '\\p{L}', 'a{2,1}', '.'),
  format: fc.constantFrom('date', 'uri', 'unknown', 'int32', 'int64', '__proto__', 'toString', 'regex'),
  $ref: fc.constantFrom('#', '#/', '#/$defs/a', '#/properties/a', '#/nope', '#/%E0', 'https://example.com/', '#a', ''),
  required: fc.uniqueArray(names, { maxLength: 3 }),
  dependentRequired: fc.dictionary(names, fc.uniqueArray(names)),
  uniqueItems: fc.boolean(),
  description: fc.constant('A thing.'),
  ...among(['const', 'default', 'examples', 'discriminator', '$comment', 'nullable', 'id', '$id', '$anchor'], data),
  ...among(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'], numbers),
  ...among(['formatMinimum', 'formatMaximum', 'readOnly', 'contentMediaType', 'contentEncoding', '$async'], data),
  ...among(['minLength', 'maxLength', 'minItems', 'maxItems', 'minContains', 'maxContains', 'minProperties'], counts),
};
const inner = ['not', 'if', 'then', 'else', 'items', 'contains', 'additionalProperties', 'propertyNames'];
const innerMore = ['unevaluatedProperties', 'unevaluatedItems', 'contentSchema', 'additionalItems', 'dependencies'];

function among(keywords: readonly string[], value: fc.Arbitrary<unknown>): Values {
  return Object.fromEntries(keywords.map((keyword) => [keyword, value]));
}

/** Returns a few keywords at a time, and occasionally a value of another kind. */
function someOf(keywords: Values, size: number): fc.Arbitrary<unknown> {
  const entries = Object.entries(keywords).map(([keyword, value]) =>
    fc.tuple(fc.constant(keyword), fc.oneof({ weight: 20, arbitrary: value }, { weight: 1, arbitrary: data })),
  );
  return fc.array(fc.oneof(...entries), { maxLength: size }).map((pairs) => Object.fromEntries(pairs));
}

const { schema: schemas } = fc.letrec<{ schema: unknown; named: unknown; list: unknown }>((tie) => ({
  named: fc.dictionary(names, tie('schema'), { maxKeys: 2 }),
  list: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.boolean(),
    someOf(
      {
        ...values,
        ...among([...inner, ...innerMore], tie('schema')),
        ...among(['allOf', 'anyOf', 'oneOf', 'prefixItems'], tie('list')),
        ...among(['patternProperties', '$defs', 'dependentSchemas', 'definitions'], tie('named')),
      },
      3,
    ),
  ),
}));

test('every accepted schema compiles and checks data', () => {
  const compiler = createSchemaCompiler();
  let accepted = 0;
  fc.assert(
    fc.property(schemas, data, (part, value) => {
      const described = typeof part === 'object' ? { ...part, description: 'A.' } : { not: part, description: 'A.' };
      const schema: JsonSchema = { type: 'object', properties: { a: described }, $defs: { a: { type: 'number' } } };
      const errors = createErrorCollector('fuzz', () => null);
      checkSchema(schema, ['input_schema'], errors);
      if (errors.list.length > 0) return;
      accepted++;
      compiler.compileInput(() => schema)({ a: value });
      compiler.compileOutput(() => schema)({ a: value });
    }),
    { numRuns: 1_000 },
  );
  assert.ok(accepted > 100, `only ${accepted} of the schemas were accepted`);
});
