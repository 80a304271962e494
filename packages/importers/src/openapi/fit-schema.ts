import { isJson, type Json, type SchemaChecks } from './document.ts';

/** The maximum number of characters of one schema. A manifest has at most 256 KiB. */
const maxSchemaText = 90_000;
const depths = [8, 6, 4, 3, 2, 1];

/**
 * Shortens a schema to what the catalogue accepts, because some documents describe thousands of parts. Parts below the cut accept
 * any value.
 */
export function fitSchema(schema: Json, checks: SchemaChecks): { readonly schema: Json; readonly note: string | null } {
  const reason = refusalOf(schema, checks);
  if (reason === null) return { schema, note: null };
  for (const depth of depths) {
    const cut = cutBelow(schema, schema, depth);
    const fitted = isJson(cut) ? { ...cut, type: 'object' } : { type: 'object' };
    if (refusalOf(fitted, checks) === null)
      return { schema: fitted, note: `Described only to level ${depth}: ${reason}` };
  }
  return { schema: { type: 'object', properties: {} }, note: `Not described: ${reason}` };
}

function refusalOf(schema: Json, { findSchemaErrors }: SchemaChecks): string | null {
  if (JSON.stringify(schema).length > maxSchemaText) return `it has more than ${maxSchemaText} characters.`;
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

function cutBelow(schema: unknown, root: Json, depth: number): unknown {
  const found = follow(schema, root);
  if (!isJson(found)) return found;
  const copy: Record<string, unknown> = Object.fromEntries(
    Object.entries(found).filter(([keyword]) => supported.has(keyword)),
  );
  if (depth === 0) {
    const { description } = copy;
    return description === undefined ? {} : { description };
  }
  if (isJson(found.properties)) {
    const members = Object.entries(found.properties).map(([name, child]) => [name, cutBelow(child, root, depth - 1)]);
    copy.properties = Object.fromEntries(members);
  }
  if ([copy.type].flat().includes('array')) copy.items = cutBelow(found.items ?? {}, root, depth - 1);
  return copy;
}

function follow(schema: unknown, root: Json): unknown {
  let found = schema;
  for (let hops = 0; isJson(found) && typeof found.$ref === 'string' && hops < 20; hops += 1) {
    const { $ref, ...beside } = found;
    const target: unknown = Reflect.get(Object(root.$defs), String($ref).slice('#/$defs/'.length));
    found = isJson(target) ? { ...target, ...beside } : beside;
  }
  return found;
}
