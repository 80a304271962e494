import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Catalogue } from '../../packages/server/src/tools/catalogue/catalogue.ts';
import { functionFormats } from '../../packages/server/src/tools/catalogue/provider-formats/formats.ts';
import { createRandom, generateValue } from './generate-input.ts';

type Schema = Readonly<Record<string, unknown>>;

/** The counts of a comparison of all plugins of a catalogue. */
export interface Compared {
  schemas: number;
  /** Values that the schemas of the plugins accept and refuse. */
  accepted: number;
  refused: number;
}

/** The formats that offer whole JSON Schemas. */
const looseFormats = ['mcp', 'anthropic', 'openai'] as const;
const maxValues = 120;

/**
 * Checks the schemas that are offered for every plugin. They have no construct that a client rejects. They accept every value that
 * the plugin's own schema accepts, and refuse the same values unless the losses say that a part could not be expressed.
 */
export function comparePortableSchemas(catalogue: Catalogue): Compared {
  const compared: Compared = { schemas: 0, accepted: 0, refused: 0 };
  for (const { callsOut, plugins } of catalogue.bundles.values()) {
    for (const compiled of plugins.values()) {
      const plugin = catalogue.describePlugin(compiled, 'en');
      const seen = new Set<string>();
      for (const format of looseFormats) {
        const { definition, losses } = functionFormats[format]({ plugin, reachesOut: callsOut });
        for (const [side, offered] of offeredSchemas(definition)) {
          const name = `${plugin.bundle_id}/${plugin.plugin_id} ${side} in ${format}`;
          const isExact = !losses.some(
            ({ path, message }) => path.startsWith(`/${side}`) && !message.includes('left out'),
          );
          compared.schemas += 1;
          assertPortable(offered, name);
          // Some formats offer equal schemas.
          const key = `${side} ${isExact} ${JSON.stringify(offered)}`;
          if (seen.has(key)) continue;
          seen.add(key);
          const examples = side === 'input_schema' ? (compiled.manifest.examples ?? []).map(({ input }) => input) : [];
          compare({ own: plugin[side], offered, examples, isExact, name }, compared);
        }
      }
    }
  }
  return compared;
}

function offeredSchemas(definition: Schema): Array<['input_schema' | 'output_schema', Schema]> {
  const inner = Object(definition.function).parameters;
  const input = definition.inputSchema ?? definition.input_schema ?? inner;
  const schemas: Array<['input_schema' | 'output_schema', Schema]> = [['input_schema', Object(input)]];
  if (definition.outputSchema !== undefined) schemas.push(['output_schema', Object(definition.outputSchema)]);
  return schemas;
}

const maps = ['properties', 'patternProperties', 'dependentSchemas', '$defs'];
const lists = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const single = ['items', 'contains', 'propertyNames', 'not', 'if', 'then', 'else'];
/** Keywords whose values `true` and `false` are understood everywhere. */
const open = ['additionalProperties', 'unevaluatedProperties', 'unevaluatedItems'];

/** Throws when a client is known to reject the schema. */
function assertPortable(root: Schema, name: string): void {
  assert.equal(root.type, 'object', name);
  for (const keyword of ['allOf', 'anyOf', 'oneOf', '$ref']) assert.ok(!(keyword in root), `${name}: root ${keyword}`);
  const visit = (schema: unknown, path: string): void => {
    assert.ok(typeof schema === 'object' && schema !== null, `${name} ${path}: ${String(schema)} is no object`);
    const { type, $ref, ...rest } = schema as Schema; // its keywords are checked below
    assert.ok(type === undefined || typeof type === 'string', `${name} ${path}: type ${JSON.stringify(type)}`);
    assert.ok($ref === undefined || String($ref).startsWith('#/$defs/'), `${name} ${path}: ${String($ref)}`);
    for (const keyword of [...maps, ...lists]) {
      for (const [key, child] of Object.entries(Object(rest[keyword]))) visit(child, `${path}/${keyword}/${key}`);
    }
    for (const keyword of single) if (keyword in rest) visit(rest[keyword], `${path}/${keyword}`);
    for (const keyword of open) if (typeof rest[keyword] === 'object') visit(rest[keyword], `${path}/${keyword}`);
  };
  visit(root, '');
}

interface Comparison {
  readonly own: Schema;
  readonly offered: Schema;
  readonly examples: readonly unknown[];
  readonly isExact: boolean;
  readonly name: string;
}

function compare({ own, offered, examples, isExact, name }: Comparison, compared: Compared): void {
  const [takesOwn, takesOffered] = [compile(own), compile(offered)];
  const random = createRandom(20_261_123);
  const generated = Array.from({ length: 3 }, () => generateValue(own, random));
  for (const value of [...examples, ...generated].flatMap(variantsOf)) {
    const isTaken = takesOwn(value) === true;
    compared[isTaken ? 'accepted' : 'refused'] += 1;
    if (isTaken || isExact) assert.equal(takesOffered(value), isTaken, `${name}: ${JSON.stringify(value)}`);
  }
}

function compile(schema: Schema): ValidateFunction {
  return new Ajv2020({ strict: false, logger: false, validateFormats: false, validateSchema: false }).compile(schema);
}

const replacements = [null, true, 0, 1.5, -7, '', 'x', 'long '.repeat(300), [], [null], {}, { unknown: 1 }];

/** Returns the value, and copies in which one part is replaced or removed. */
function variantsOf(value: unknown): unknown[] {
  const variants = pathsOf(value).flatMap((path) => [
    ...replacements.map((replacement) => withPart(value, path, replacement)),
    ...(path.length === 0 ? [] : [withPart(value, path, undefined)]),
  ]);
  const step = Math.max(1, Math.ceil(variants.length / maxValues));
  // A step that shares no factor with the number of replacements visits all of them.
  return [value, ...variants.filter((_, index) => index % (step % 13 === 0 ? step + 1 : step) === 0)];
}

function pathsOf(value: unknown, path: readonly string[] = []): string[][] {
  const inner = Object.entries(typeof value === 'object' ? Object(value) : {});
  return [[...path], ...inner.flatMap(([key, child]) => pathsOf(child, [...path, key]))];
}

/** Copies the value with another part; undefined removes the part. */
function withPart(value: unknown, path: readonly string[], part: unknown): unknown {
  if (path.length === 0) return part;
  const copy = structuredClone(value);
  let holder: unknown = copy;
  for (const key of path.slice(0, -1)) holder = Reflect.get(Object(holder), key);
  const last = path.at(-1) ?? '';
  if (part !== undefined) Reflect.set(Object(holder), last, part);
  else if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else Reflect.deleteProperty(Object(holder), last);
  return copy;
}
