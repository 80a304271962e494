import { isJson, type Json, type SchemaChecks } from './document.ts';

/** The maximum number of bytes of one schema. A manifest has two, and at most 256 KiB. */
const maxSchemaBytes = 90_000;
/** The catalogue refuses schemas with more parts. A schema that refers to itself has many at each level. */
const maxParts = 2_000;
const depths = [8, 6, 4, 3, 2, 1];

/**
 * Shortens a schema to what the catalogue accepts, because some documents describe thousands of parts. Parts below the cut accept
 * any value.
 */
export function fitSchema(schema: Json, checks: SchemaChecks): { readonly schema: Json; readonly note: string | null } {
  const reason = refusalOf(schema, checks);
  if (reason === null) return { schema, note: null };
  for (const depth of depths) {
    const parts = { root: schema, left: maxParts };
    const cut = cutBelow(schema, parts, depth);
    if (parts.left < 0) continue;
    const fitted = isJson(cut) ? { ...cut, type: 'object' } : { type: 'object' };
    if (refusalOf(fitted, checks) === null)
      return { schema: fitted, note: `Described only to level ${depth}: ${reason}` };
  }
  return { schema: { type: 'object', properties: {} }, note: `Not described: ${reason}` };
}

function refusalOf(schema: Json, { findSchemaErrors }: SchemaChecks): string | null {
  if (Buffer.byteLength(JSON.stringify(schema)) > maxSchemaBytes) return `it has more than ${maxSchemaBytes} bytes.`;
  return findSchemaErrors(schema)[0] ?? null;
}

const supported = new Set([
  'type',
  'enum',
  'const',
  'title',
  'description',
  'format',
  'required',
  'minimum',
  'maximum',
]);

/** Follows references at the root, because the root must declare its type. */
export function followRoot(schema: Json, $defs: Json): Json {
  let root = schema;
  for (let hops = 0; typeof root.$ref === 'string' && hops < 20; hops += 1) {
    const { $ref, ...beside } = root;
    const target = $defs[String($ref).slice('#/$defs/'.length)];
    root = isJson(target) ? { ...target, ...beside } : beside;
  }
  return root;
}

/** @param parts ends with `left` below 0 when there are too many */
function cutBelow(schema: unknown, parts: { readonly root: Json; left: number }, depth: number): unknown {
  parts.left -= 1;
  const found = isJson(schema) ? followRoot(schema, Object(parts.root.$defs)) : schema;
  if (!isJson(found) || parts.left < 0) return found;
  const copy: Record<string, unknown> = Object.fromEntries(
    Object.entries(found).filter(([keyword]) => supported.has(keyword)),
  );
  if (depth === 0) {
    const { description } = copy;
    return description === undefined ? {} : { description };
  }
  if (isJson(found.properties)) {
    const members = Object.entries(found.properties);
    if (members.length > parts.left) parts.left = -1;
    else
      copy.properties = Object.fromEntries(members.map(([name, child]) => [name, cutBelow(child, parts, depth - 1)]));
  }
  if ([copy.type].flat().includes('array')) copy.items = cutBelow(found.items ?? {}, parts, depth - 1);
  return copy;
}
