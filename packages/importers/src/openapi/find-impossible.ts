import { isJson, type Json, memberOf } from './document.ts';

const mostDepth = 6;

/** Why no value is valid for an input that is needed, as a clause; undefined when each can have one. */
export function findImpossible(input: Json, body: unknown): string | undefined {
  const needed = new Set(Array.isArray(input.required) ? input.required.map(String) : []);
  // A body as a whole is what the operation is for.
  const isNeeded = (name: string) => needed.has(name) || body === `{${name}}`;
  for (const [name, schema] of Object.entries(Object(input.properties))) {
    const found = isNeeded(name) ? contradictionIn(schema, { root: input, path: name, depth: mostDepth }) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

interface Place {
  readonly root: Json;
  readonly path: string;
  readonly depth: number;
}

function contradictionIn(schema: unknown, { root, path, depth }: Place): string | undefined {
  const parts = partsOf(schema, root, depth);
  const typed = parts.filter(({ type }) => type !== undefined).map(({ type }) => [type].flat().map(String));
  const [first = [], ...others] = typed;
  const left = first.filter((one) => others.every((types) => types.some((other) => overlap(one, other))));
  if (typed.length > 0 && left.length === 0)
    return `no value is valid for ${JSON.stringify(path)}, which must be ${typed.map((types) => types.join(' or ')).join(' and ')}`;
  if (depth === 0 || !left.includes('object') || left.length > 1) return undefined;
  for (const name of parts.flatMap(({ required }) => (Array.isArray(required) ? required.map(String) : []))) {
    const allOf = parts.map(({ properties }) => memberOf(properties, name)).filter(isJson);
    const found = contradictionIn({ allOf }, { root, path: `${path}.${name}`, depth: depth - 1 });
    if (found !== undefined) return found;
  }
  return undefined;
}

function overlap(one: string, other: string): boolean {
  const isNumber = (type: string) => type === 'number' || type === 'integer';
  return one === other || (isNumber(one) && isNumber(other));
}

/** A schema with its targets and the parts of its `allOf`. */
function partsOf(schema: unknown, root: Json, depth: number): Json[] {
  if (!isJson(schema) || depth < 0) return [];
  const { $ref, allOf, ...own } = schema;
  const target = typeof $ref === 'string' ? memberOf(root.$defs, $ref.slice('#/$defs/'.length)) : undefined;
  const parts = [target, ...(Array.isArray(allOf) ? allOf : [])];
  return [own, ...parts.slice(0, 50).flatMap((part) => partsOf(part, root, depth - 1))];
}
