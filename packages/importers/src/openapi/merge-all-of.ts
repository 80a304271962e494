import { isJson, isReference, type Json, type OpenApiDocument } from './document.ts';

const remarks = new Set([
  'title',
  'description',
  'example',
  'examples',
  'xml',
  'externalDocs',
  'deprecated',
  'default',
]);
const fields = new Set(['type', 'properties', 'required', 'nullable']);

/** Whether a schema only lists properties. */
export function isPlainObject(schema: Json): boolean {
  const constraints = Object.entries(schema).filter(([keyword]) => !keyword.startsWith('x-') && !remarks.has(keyword));
  const isPlain = constraints.every(([keyword, member]) =>
    keyword === 'additionalProperties' ? typeof member === 'boolean' : fields.has(keyword),
  );
  return isPlain && [schema.type ?? 'object'].flat().includes('object');
}

/**
 * Merges the parts of an `allOf` into one object with the properties of all. Each part that allows no other properties would refuse those
 * of the others, so that no value would be valid. Undefined when no part does.
 */
export function mergeClosedParts(document: OpenApiDocument, schema: Json): Json | undefined {
  const parts = partsOf(document, schema);
  if (!parts.some(({ additionalProperties }) => additionalProperties === false)) return undefined;
  return mergeParts(schema, parts) ?? opened(schema, parts);
}

/** Merges the parts of an `allOf` when each of them only lists properties. */
export function mergePlainParts(document: OpenApiDocument, schema: Json): Json | undefined {
  return mergeParts(schema, partsOf(document, schema));
}

function mergeParts(schema: Json, parts: readonly Json[]): Json | undefined {
  if (!parts.every(isPlainObject)) return undefined;
  const properties = new Map<string, unknown>();
  for (const part of parts) {
    for (const [name, child] of Object.entries(Object(part.properties))) {
      const known = properties.get(name);
      const isSame = known === undefined || JSON.stringify(known) === JSON.stringify(child);
      properties.set(name, isSame ? child : { allOf: [known, child] });
    }
  }
  const { allOf: _, ...own } = schema;
  const texts = Object.fromEntries(parts.flatMap((part) => Object.entries(part)).filter(([name]) => remarks.has(name)));
  const isOpen = parts.some(({ additionalProperties }) => additionalProperties === true);
  const isClosed = parts.some(({ additionalProperties }) => additionalProperties === false);
  return Object.assign(texts, own, {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: [...new Set(parts.flatMap(({ required }) => (Array.isArray(required) ? required : [])))],
    ...(isClosed && !isOpen ? { additionalProperties: false } : {}),
  });
}

/** Parts that cannot be merged accept other properties. */
function opened(schema: Json, parts: readonly Json[]): Json {
  const { additionalProperties: _, ...own } = schema;
  const allOf = parts.slice(1).map(({ additionalProperties, ...part }) => part);
  return { ...own, allOf };
}

const mostParts = 200;

/** The schema without `allOf`, then the parts of its `allOf`, and those of theirs. */
function partsOf(document: OpenApiDocument, schema: Json): Json[] {
  const found = new Set<Json>();
  const parts: Json[] = [];
  const visit = (value: unknown): void => {
    const part = isReference(value) ? document.follow(value) : value;
    if (!isJson(part) || found.has(part) || found.size > mostParts) return;
    document.spend();
    found.add(part);
    const { allOf, ...own } = part;
    parts.push(own);
    for (const child of Array.isArray(allOf) ? allOf : []) visit(child);
  };
  visit(schema);
  return parts;
}
