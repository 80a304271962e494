import type { ApiOperation, Schema } from '../hostile/operations.ts';
import type { HoldService } from './hold-service.ts';

/** A place of a JSON body that takes a text, a list or an object. */
export interface Place {
  readonly name: string;
  /** Names of members; a number is the index of an item. */
  readonly path: readonly (string | number)[];
  readonly schema: Schema;
  readonly kind: 'text' | 'container';
  /** Members that the surrounding schema requires, by the path of their object. */
  readonly around: ReadonlyArray<{ readonly path: readonly (string | number)[]; readonly value: unknown }>;
}

type Ids = HoldService['ids'];

/** Returns all places of a schema. A union has the places of all its branches. */
export function placesOf(schema: Schema, path: Place['path'] = [], around: Place['around'] = []): Place[] {
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches !== undefined) return branches.flatMap((branch) => placesOf(branch, path, around));
  const name = path.map((part) => (typeof part === 'number' ? '[]' : `.${part}`)).join('') || '.';
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  if (schema.enum !== undefined || types.includes('null')) return [];
  if (types.includes('string') || types.length === 0) {
    const text: Place = { name, path, schema, kind: 'text', around };
    return types.length === 0 && path.length > 0 ? [text, { ...text, kind: 'container' }] : [text];
  }
  if (types.includes('array')) {
    const items = placesOf(schema.items ?? {}, [...path, 0], around);
    return [{ name, path, schema, kind: 'container', around }, ...items];
  }
  if (!types.includes('object')) return [];
  const here = [...around, { path, value: requiredOf(schema) }];
  const members = Object.entries(schema.properties ?? {}).flatMap(([member, each]) =>
    placesOf(each, [...path, member], here),
  );
  const extra =
    typeof schema.additionalProperties === 'object'
      ? placesOf(schema.additionalProperties, [...path, 'extra'], here)
      : [];
  return [{ name, path, schema, kind: 'container', around }, ...members, ...extra];
}

function requiredOf(schema: Schema): Record<string, unknown> {
  const required = schema.required ?? [];
  return Object.fromEntries(required.map((name) => [name, smallestOf(schema.properties?.[name] ?? {}, name, {})]));
}

/** Returns the smallest value that the schema allows. */
function smallestOf(schema: Schema, name: string, ids: Ids): unknown {
  const branch = (schema.anyOf ?? schema.oneOf)?.[0];
  if (branch !== undefined) return smallestOf(branch, name, ids);
  if (schema.enum !== undefined) return schema.enum[0];
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0];
  if (type === 'object')
    return Object.fromEntries(
      (schema.required ?? []).map((each) => [each, smallestOf(schema.properties?.[each] ?? {}, each, ids)]),
    );
  if (type === 'array') return [];
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1;
  if (type === 'boolean') return true;
  return ids[name] ?? 'a'.repeat(Math.max(1, schema.minLength ?? 1));
}

/** Bodies that succeed, for operations whose smallest body fails early. */
const examples: Readonly<Record<string, (ids: Ids) => unknown>> = {
  createCollection: () => ({ name: 'a', type: 'text', capacity: 1_000 }),
  updateCollection: () => ({ name: 'a' }),
  createRecord: () => ({ type: 'text', title: 'a', content: 'a', text_splitter: splitter }),
  updateRecord: () => ({ title: 'a' }),
  createChunk: () => ({ content: 'a' }),
  updateChunk: () => ({ content: 'a' }),
  queryChunks: () => ({ query_text: 'a', top_k: 3 }),
  queryCollections: ({ collection_id = '' }) => ({ collection_ids: [collection_id], query_text: 'a', top_k: 3 }),
  setUp: ({ token = '' }) => ({ token, name: 'someone', password: 'a' }),
  execute: () => ({ bundle_id: 'hold', plugin_id: 'read', input_params: { q: 'a' }, credentials: { KEY: 'abcd' } }),
  executeDirectly: () => ({ q: 'a' }),
  createCredentialProfile: () => ({ name: 'a', bundle_id: 'hold', credentials: { KEY: 'abcd' } }),
  verifyCredentials: () => ({ bundle_id: 'hold', credentials: { KEY: 'abcd' } }),
};
const splitter = { type: 'token', chunk_size: 100, chunk_overlap: 10 };

export function exampleOf({ id, address }: ApiOperation, schema: Schema, ids: Ids): unknown {
  return examples[id]?.(ids) ?? smallestOf(schema, `${address} ${id}`, ids);
}

/** Returns the JSON of the body with another value at the place. The value itself is JSON. */
export function withValue(body: unknown, { path, around }: Place, value: string): string {
  const marker = 'hold: here';
  if (path.length === 0) return value;
  const root: Record<string | number, unknown> = structuredClone(body) as Record<string, unknown>; // bodies are objects
  let at = root;
  for (const [index, part] of path.slice(0, -1).entries()) {
    const needed = around.find((each) => sameAs(each.path, path.slice(0, index + 1)))?.value;
    const present = at[part];
    const next = typeof present === 'object' && present !== null ? present : {};
    at[part] = typeof path[index + 1] === 'number' ? [] : { ...(needed ?? {}), ...next };
    at = at[part] as Record<string | number, unknown>; // created above
  }
  at[path.at(-1) ?? ''] = marker;
  return JSON.stringify(root).replace(JSON.stringify(marker), () => value);
}

function sameAs(one: Place['path'], other: Place['path']): boolean {
  return one.length === other.length && one.every((part, index) => part === other[index]);
}

/** Returns the path of an operation with the ids of existing objects. */
export function pathOf({ path }: ApiOperation, ids: Ids): string {
  return path.replace(/\{([^}]+)\}/g, (_, name: string) =>
    name === '*' ? (ids[name] ?? 'v1/plugins') : encodeURIComponent((ids[name] ?? 'a').toWellFormed()),
  );
}
