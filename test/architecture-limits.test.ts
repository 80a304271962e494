import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

type Schema = Readonly<Record<string, unknown>>;

interface Operation {
  readonly operationId?: string;
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string; readonly schema: Schema }>;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

/** The part of an OpenAPI document that describes requests. */
interface RequestDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

/**
 * Returns the places in requests where a caller chooses an unbounded size: strings without `maxLength`, arrays without `maxItems`,
 * maps without `maxProperties`, integers without a range. The limits of the whole body bound files, undeclared members and values of any
 * form.
 */
function findUnbounded({ paths, components }: RequestDocument): string[] {
  const found: string[] = [];
  function walk(schema: Schema, place: string, above: readonly string[] = []): void {
    const { $ref, enum: values, const: only, properties = {}, additionalProperties: others } = schema;
    if (values !== undefined || only !== undefined) return;
    if (typeof $ref === 'string') {
      const target = components?.schemas?.[$ref.replace('#/components/schemas/', '')];
      if (target === undefined) found.push(`${place}: no schema ${$ref}`);
      else if (!above.includes($ref)) walk(target, place, [...above, $ref]);
      return;
    }
    const types = [schema.type ?? []].flat();
    const parts = ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => (schema[keyword] ?? []) as readonly Schema[]);
    for (const part of parts) walk(part, place, above);
    if (types.includes('string') && schema.maxLength === undefined && schema.format !== 'binary')
      found.push(`${place}: maxLength`);
    if (types.includes('integer') && (schema.minimum === undefined || schema.maximum === undefined))
      found.push(`${place}: minimum and maximum`);
    if (types.includes('array') && schema.maxItems === undefined) found.push(`${place}: maxItems`);
    if (typeof schema.items === 'object') walk(schema.items as Schema, `${place}[]`, above);
    const names = Object.entries(properties as Readonly<Record<string, Schema>>);
    if (types.includes('object') && names.length === 0 && others !== false && schema.maxProperties === undefined)
      found.push(`${place}: maxProperties`);
    for (const [name, property] of names) walk(property, `${place}/${name}`, above);
    for (const map of [others, ...Object.values((schema.patternProperties ?? {}) as object)])
      if (typeof map === 'object' && map !== null) walk(map as Schema, `${place}/*`, above);
  }
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { operationId = `${method} ${path}`, parameters = [], requestBody }] of Object.entries(
      operations,
    )) {
      for (const { in: where, name, schema } of parameters) walk(schema, `${operationId} ${where}/${name}`);
      for (const { schema } of Object.values(requestBody?.content ?? {})) walk(schema, `${operationId} body`);
    }
  }
  return found;
}

test('every string, array, object and integer in the requests of both addresses has a bound', () => {
  for (const address of ['files', 'plugins']) {
    const document: RequestDocument = JSON.parse(readFileSync(`docs/reference/openapi-${address}.json`, 'utf8'));
    assert.ok(Object.keys(document.paths).length > 10);
    assert.deepEqual(findUnbounded(document), []);
  }
});

const text = { type: 'string' };
const numbers = { type: 'integer', minimum: 0 };
/** Schemas of a property `a`, and the result of the check for each. */
const unbounded: ReadonlyArray<readonly [schema: Schema, found: string[]]> = [
  [text, ['body/a: maxLength']],
  [{ type: 'array', items: text }, ['body/a: maxItems', 'body/a[]: maxLength']],
  [{ anyOf: [text] }, ['body/a: maxLength']],
  [{ type: ['string', 'null'] }, ['body/a: maxLength']],
  [{ type: 'object' }, ['body/a: maxProperties']],
  [{ type: 'object', maxProperties: 1, additionalProperties: text }, ['body/a/*: maxLength']],
  [{ type: 'object', maxProperties: 1, patternProperties: { '^b': text } }, ['body/a/*: maxLength']],
  [numbers, ['body/a: minimum and maximum']],
  [{ $ref: '#/components/schemas/Text' }, ['body/a: maxLength']],
  [{ $ref: '#/components/schemas/Missing' }, ['body/a: no schema #/components/schemas/Missing']],
  [{ enum: ['b'] }, []],
  [{ ...numbers, maximum: 9 }, []],
];

test('the check finds each kind of value without a bound', () => {
  const find = (post: object) =>
    findUnbounded({ paths: { '/v1/a': { post } }, components: { schemas: { Text: text } } }).map((line) =>
      line.replace(/^post \/v1\/a /, ''),
    );
  for (const [a, found] of unbounded) {
    const schema = { type: 'object', properties: { a } };
    assert.deepEqual(find({ requestBody: { content: { 'application/json': { schema } } } }), found);
  }
  const parameters = ['path', 'query', 'header'].map((where) => ({ name: 'a', in: where, schema: text }));
  assert.deepEqual(find({ parameters }), ['path/a: maxLength', 'query/a: maxLength', 'header/a: maxLength']);
});
