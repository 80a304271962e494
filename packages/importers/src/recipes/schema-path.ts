import { isJson, type Json, memberOf } from '../openapi/document.ts';
import { followRoot } from '../openapi/fit-schema.ts';
import { humanised } from '../openapi/names.ts';

/** A schema of a plugin, with the `$defs` of its root. */
export interface Place {
  readonly schema: Json;
  readonly defs: Json;
}

export function placeOf(root: Json): Place {
  return { schema: root, defs: isJson(root.$defs) ? root.$defs : {} };
}

/** A member, `[]` for each item of a list, or `[-1]` for one. */
export type Step = { readonly name: string } | { readonly item: string };

/** Splits `data[-1].id` or `value[]."@odata.id"`. `@` is the whole answer. @throws Error for another form */
export function readPath(path: string): Step[] {
  const steps: Step[] = [];
  let rest = path === '@' ? '' : path.replace(/^@\./, '');
  while (rest !== '') {
    const [whole = '', item, quoted, name] = /^(?:\[(-?\d{0,9})\]|"([^"]+)"|([^."[\]]+))\.?/.exec(rest) ?? [];
    if (whole === '') throw new Error(`The path ${JSON.stringify(path)} has a wrong form.`);
    steps.push(item === undefined ? { name: quoted ?? name ?? '' } : { item });
    rest = rest.slice(whole.length);
  }
  return steps;
}

/** The schema at a path; undefined when the schema has no such member. */
export function schemaAt(place: Place, steps: readonly Step[]): Place | undefined {
  let found: Place | undefined = place;
  for (const step of steps) {
    if (found === undefined) return undefined;
    found = 'name' in step ? memberAt(found, step.name) : itemsOf(found);
  }
  return found;
}

/** The schema of a member. A schema that describes no members allows any. */
export function memberAt(place: Place, name: string): Place | undefined {
  const forms = formsOf(place);
  const described = forms.map(({ properties }) => memberOf(properties, name)).find(isJson);
  if (described !== undefined) return { ...place, schema: described };
  const others = forms
    .map(({ additionalProperties }) => additionalProperties)
    .find((one) => isJson(one) || one === true);
  const isFree = forms.every(({ type, properties }) => properties === undefined && allows(type, 'object'));
  // The importer leaves out members with other names, such as `@odata.type`, so they cannot be checked.
  const isExpressible = /^[\w.-]{1,64}$/.test(name);
  if (others === undefined && !isFree && isExpressible) return undefined;
  return { ...place, schema: { description: `${humanised(name)}.`, ...(isJson(others) ? others : {}) } };
}

export function itemsOf(place: Place): Place | undefined {
  const forms = formsOf(place);
  const items = forms.map((form) => form.items).find(isJson);
  if (items !== undefined) return { ...place, schema: items };
  return forms.every(({ type, properties }) => properties === undefined && allows(type, 'array'))
    ? { ...place, schema: { description: 'Item.' } }
    : undefined;
}

function allows(type: unknown, wanted: string): boolean {
  return type === undefined || [type].flat().includes(wanted);
}

/** The schema and the parts that it combines, without references. */
export function formsOf({ schema, defs }: Place, depth = 0): Json[] {
  const root = followRoot(schema, defs);
  const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => (Array.isArray(root[keyword]) ? root[keyword] : []));
  if (parts.length === 0 || depth > 8) return [root];
  const nested = parts.filter(isJson).flatMap((part) => formsOf({ schema: part, defs }, depth + 1));
  const isOwn = root.properties !== undefined || root.items !== undefined || root.additionalProperties !== undefined;
  return isOwn ? [root, ...nested] : nested;
}

/** The schema with null as another value. Its `enum` is left out, because vendors add values to their answers. */
export function nullable({ schema, defs }: Place): Json {
  const { enum: _, ...root } = followRoot(schema, defs);
  if (root.type !== undefined) return { ...root, type: [...new Set([root.type, 'null'].flat())] };
  const keyword = ['anyOf', 'oneOf'].find((name) => Array.isArray(root[name]));
  if (keyword !== undefined) return { ...root, [keyword]: [...[root[keyword]].flat(), { type: 'null' }] };
  if (!Array.isArray(root.allOf)) return root;
  const { description = 'Value.', ...other } = root;
  return { description, anyOf: [other, { type: 'null' }] };
}

/** Applies a JSON Merge Patch (RFC 7396). */
export function mergePatch(value: unknown, patch: unknown): unknown {
  if (!isJson(patch)) return patch;
  const result: Record<string, unknown> = isJson(value) ? { ...value } : {};
  for (const [name, member] of Object.entries(patch)) {
    if (member === null) delete result[name];
    else result[name] = mergePatch(result[name], member);
  }
  return result;
}

/** Leaves out the definitions that the schema does not use. */
export function withUsedDefinitions(schema: Json, defs: Json): Json {
  const used = new Map<string, unknown>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const ref: unknown = Reflect.get(value, '$ref');
    const name = typeof ref === 'string' ? ref.slice('#/$defs/'.length) : '';
    if (Object.hasOwn(defs, name) && !used.has(name)) {
      used.set(name, defs[name]);
      visit(defs[name]);
    }
    for (const member of Object.values(value)) visit(member);
  };
  const { $defs: _, ...root } = schema;
  visit(root);
  return used.size === 0 ? root : { ...root, $defs: Object.fromEntries(used) };
}
