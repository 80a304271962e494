import { isJson, isReference, isWritable, type Json, type OpenApiDocument } from './document.ts';
import { mergeClosedParts } from './merge-all-of.ts';
import { freeName, humanised, propertyName } from './names.ts';

/** Converts schemas of an OpenAPI document to self-contained schemas of one plugin and notes every loss. */
export interface SchemaConverter {
  /** Converts the schema of a property. `name` becomes its description when it has none. */
  property(schema: unknown, name: string): Json;
  /** The definitions that converted schemas refer to, for `$defs`. */
  definitions(): Json;
  /** Sentences about what could not be converted. */
  readonly notes: Set<string>;
}

/** Keywords whose value is one schema. */
const single = new Set([
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
]);
const lists = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const maps = new Set(['patternProperties', 'dependentSchemas']);
/** Keywords that are copied. `default` becomes text, because the upstream applies it. */
const plain = new Set([
  ...[
    'type',
    'enum',
    'const',
    'title',
    'description',
    'format',
    'multipleOf',
    'maximum',
    'exclusiveMaximum',
    'minimum',
  ],
  ...['exclusiveMinimum', 'maxLength', 'minLength', 'maxItems', 'minItems', 'uniqueItems', 'maxProperties'],
  ...[
    'minProperties',
    'required',
    'dependentRequired',
    'deprecated',
    'readOnly',
    'writeOnly',
    'minContains',
    'maxContains',
  ],
]);

/** The catalogue accepts no schema with more parts, so that larger ones are cut in any case. */
const mostDefinitions = 2_100;

export function createSchemaConverter(document: OpenApiDocument): SchemaConverter {
  const { isLinearPattern } = document.checks;
  const names = new Map<string, string>();
  const definitions: Record<string, Json | boolean> = {};
  const notes = new Set<string>();

  function refer(reference: string): Json | boolean {
    const known = names.get(reference);
    if (known !== undefined) return { $ref: `#/$defs/${known}` };
    if (names.size >= mostDefinitions) return {};
    const target = document.resolve(reference);
    if (!isJson(target) && typeof target !== 'boolean') {
      notes.add(`${JSON.stringify(reference)} ${document.whyUnresolved(reference)}, so any value is accepted there.`);
      return {};
    }
    const last = propertyName(reference.split('/').at(-1) ?? '').replaceAll('.', '_');
    const name = freeName(last, (taken) => Object.hasOwn(definitions, taken));
    names.set(reference, name);
    // The name is reserved first, because the target may refer back to it.
    definitions[name] = {};
    definitions[name] = convert(target);
    return { $ref: `#/$defs/${name}` };
  }

  function convert(schema: unknown): Json | boolean {
    document.spend();
    if (typeof schema === 'boolean') return schema;
    if (!isJson(schema)) return {};
    const { $ref, ...beside } = schema;
    if (typeof $ref === 'string') {
      const target = refer($ref);
      const rest = convertKeywords(beside);
      return isJson(target) ? { ...rest, ...target } : target;
    }
    return convertKeywords(schema);
  }

  function convertKeywords(described: Json): Json {
    const schema = (Array.isArray(described.allOf) ? mergeClosedParts(document, described) : undefined) ?? described;
    const copy: Record<string, unknown> = {};
    for (const [keyword, value] of Object.entries(schema)) {
      if (plain.has(keyword)) copy[keyword] = value;
      else if (single.has(keyword) && (isJson(value) || typeof value === 'boolean')) copy[keyword] = convert(value);
      else if (lists.has(keyword) && Array.isArray(value) && value.length > 0) copy[keyword] = value.map(convert);
      else if (maps.has(keyword) && isJson(value)) {
        const members = Object.entries(value).filter(([key]) => isWritable(key));
        copy[keyword] = Object.fromEntries(members.map(([key, child]) => [key, convert(child)]));
      }
    }
    if (isJson(schema.properties)) copy.properties = convertProperties(schema.properties);
    if (schema.additionalProperties === false && !isComplete(copy, schema)) delete copy.additionalProperties;
    return repair(copy, schema);
  }

  function convertProperties(properties: Json): Json {
    const result: Record<string, unknown> = {};
    for (const [name, child] of Object.entries(properties)) {
      if (name === propertyName(name)) result[name] = property(child, name);
      else
        notes.add(
          `${JSON.stringify(name)} is not an allowed property name; the property is accepted but not described.`,
        );
    }
    return result;
  }

  function property(schema: unknown, name: string): Json {
    const converted = convert(schema);
    if (converted === false) return { not: {}, description: humanised(name) };
    const own = converted === true ? {} : converted;
    return { ...own, description: descriptionOf(schema, own, name) };
  }

  function descriptionOf(schema: unknown, own: Json, name: string): string {
    const target = isReference(schema) ? document.follow(schema) : undefined;
    const candidates = [own.description, Reflect.get(Object(target), 'description'), own.title];
    const found = candidates.find((text) => typeof text === 'string' && text.trim() !== '');
    return typeof found === 'string' ? found : `${humanised(name)}.`;
  }

  function repair(copy: Record<string, unknown>, schema: Json): Json {
    repairTypes(copy, schema);
    repairLists(copy);
    if (typeof schema.pattern === 'string') {
      const reason = isLinearPattern(schema.pattern);
      if (reason === null) copy.pattern = schema.pattern;
      else notes.add(`The pattern ${JSON.stringify(schema.pattern)} is not checked: ${reason}.`);
    }
    for (const pattern of Object.keys(Object(copy.patternProperties))) {
      if (isLinearPattern(pattern) !== null) delete copy.patternProperties;
    }
    if (schema.default !== undefined) copy.description = withDefault(copy.description, schema.default);
    return copy;
  }

  return { property, definitions: () => definitions, notes };
}

/** Whether a closed object describes each of its properties. Otherwise it would refuse what the API needs. */
function isComplete({ properties, patternProperties }: Record<string, unknown>, schema: Json): boolean {
  const names = [Object.keys(Object(schema.properties)), Array.isArray(schema.required) ? schema.required : []].flat();
  return patternProperties !== undefined || names.every((name) => Object.hasOwn(Object(properties), String(name)));
}

function withDefault(description: unknown, value: unknown): string {
  const base = typeof description === 'string' ? description.trimEnd() : '';
  if (/default/i.test(base)) return base;
  const text = JSON.stringify(value) ?? '';
  return text.length > 200
    ? base
    : `${base === '' ? '' : `${base}${/[.!?]$/.test(base) ? '' : '.'} `}Default: ${text}.`;
}

const types = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);

function repairTypes(copy: Record<string, unknown>, schema: Json): void {
  const named = (Array.isArray(copy.type) ? copy.type : [copy.type]).filter((type) => types.has(String(type)));
  const unique = [...new Set(named)];
  if (unique.length === 0) delete copy.type;
  else copy.type = unique.length === 1 ? unique[0] : unique;
  if (schema.nullable === true && unique.length > 0 && !unique.includes('null')) copy.type = [...unique, 'null'];
  if (Array.isArray(copy.enum)) {
    const values = new Map(copy.enum.map((value) => [JSON.stringify(value), value]));
    if (values.size === 0) delete copy.enum;
    else copy.enum = [...values.values()];
    if (values.size > 0 && ![...values.values()].some((value) => hasType(value, unique))) delete copy.type;
  } else delete copy.enum;
  for (const bound of ['exclusiveMinimum', 'exclusiveMaximum'] as const) {
    if (typeof copy[bound] !== 'number') delete copy[bound];
  }
}

function hasType(value: unknown, named: readonly unknown[]): boolean {
  if (named.length === 0) return true;
  if (typeof value === 'number') return named.includes('number') || named.includes('integer');
  if (value === null || Array.isArray(value)) return named.includes(value === null ? 'null' : 'array');
  return named.includes(typeof value);
}

function repairLists(copy: Record<string, unknown>): void {
  if (Array.isArray(copy.required))
    copy.required = [...new Set(copy.required.filter((name) => typeof name === 'string'))];
  else delete copy.required;
  const isList = [copy.type].flat().includes('array');
  if (isList && copy.items === undefined && copy.prefixItems === undefined) copy.items = {};
  for (const text of ['description', 'title', 'format'] as const) if (typeof copy[text] !== 'string') delete copy[text];
  for (const flag of ['uniqueItems', 'deprecated', 'readOnly', 'writeOnly'] as const) {
    if (typeof copy[flag] !== 'boolean') delete copy[flag];
  }
}
