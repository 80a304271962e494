import { describeFields, type Entries } from './entries.ts';

type Node = Readonly<Record<string, unknown>>;

export interface OpenApiDocument extends Node {
  readonly paths: Node;
  readonly components?: { readonly securitySchemes?: Node; readonly responses?: Node };
  readonly security?: Security;
}
type Security = ReadonlyArray<Readonly<Record<string, unknown>>>;

const texts = new Set([
  'title',
  'summary',
  'description',
  'example',
  'examples',
  'externalDocs',
  '$comment',
  'x-codeSamples',
]);
/** Keywords whose values have names as keys, not keywords. */
const containers = new Set(['properties', 'patternProperties', 'content', 'responses', 'headers']);
/** Keywords that the names of entries omit. */
const unnamed = new Set(['properties', 'content', 'responses', 'schema']);
const values = new Set(['default', 'const', 'enum']);
const sharedResponses = '#/components/responses/';

/**
 * Returns one entry for each operation, parameter and node of a schema, without texts. A `$ref` is replaced by the
 * schema that it refers to, so that named and unnamed schemas are equal. Responses that operations share have their own
 * entries.
 */
export function readOpenApi(document: OpenApiDocument): Entries {
  const entries: Entries = {};
  const walk = createWalk(document, entries);
  for (const [name, scheme] of Object.entries(document.components?.securitySchemes ?? {}))
    walk(`security ${name}`, scheme as Node);
  for (const [name, response] of Object.entries(document.components?.responses ?? {}))
    walk(`response ${name}`, response as Node);
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations as Record<string, Node>)) {
      const security = (operation.security ?? document.security ?? []) as Security;
      const alternatives = security.map((schemes) => Object.keys(schemes).join('+') || 'none');
      walk(`${path} ${method}`, { ...operation, security: alternatives });
    }
  }
  return entries;
}

function createWalk(document: OpenApiDocument, entries: Entries) {
  return function walk(at: string, node: Node, more: Node = {}, above: Node = {}): void {
    const { $ref: reference, ...beside } = node;
    if (typeof reference === 'string') {
      if (reference.startsWith(sharedResponses)) entries[at] = `response ${reference.slice(sharedResponses.length)}`;
      else if (reference in above) entries[at] = describeFields({ ...more, recursive: above[reference] });
      else walk(at, { ...resolve(document, reference), ...beside }, more, { ...above, [reference]: at });
      return;
    }
    const own: Record<string, unknown> = { ...more };
    const children: Array<[at: string, node: Node, more?: Node]> = [];
    for (const [key, value] of Object.entries(node)) {
      const inside = unnamed.has(key) ? at : `${at} ${key}`;
      if (texts.has(key) || (key === 'required' && namesProperties(node))) continue;
      if (values.has(key) || !(isNode(value) || isListOfNodes(value))) own[key] = value;
      else if (key === 'parameters')
        for (const { in: place, name, ...rest } of value as Node[]) children.push([`${at} ${place} ${name}`, rest]);
      else if (isListOfNodes(value))
        for (const [index, child] of value.entries()) children.push([`${inside}(${index})`, child]);
      else if (key === 'properties') children.push(...readProperties(at, node));
      else if (containers.has(key))
        for (const [name, child] of Object.entries(value)) children.push([`${inside} ${name}`, child as Node]);
      else children.push([inside, value]);
    }
    // A parameter and its schema have one entry.
    entries[at] = [entries[at], describeFields(own)].filter(Boolean).join(' ');
    for (const [name, child, moreOfChild] of children) walk(name, child, moreOfChild, above);
  };
}

function readProperties(at: string, { properties, required }: Node): Array<[at: string, node: Node, more: Node]> {
  const names = (required ?? []) as string[];
  return Object.entries(properties as Record<string, Node>).map(([name, child]) => [
    `${at}/${name}`,
    child,
    { required: names.includes(name) },
  ]);
}

/** Returns whether every required property is declared. Each of them then has its own entry that says so. */
function namesProperties({ properties, required }: Node): boolean {
  return isNode(properties) && (required as string[]).every((name) => name in properties);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isListOfNodes(value: unknown): value is Node[] {
  return Array.isArray(value) && value.length > 0 && value.every(isNode);
}

function resolve(document: OpenApiDocument, reference: string): Node {
  let found: unknown = document;
  for (const step of reference.slice('#/'.length).split('/')) found = isNode(found) ? found[step] : undefined;
  if (!isNode(found)) throw new Error(`${reference} refers to nothing`);
  return found;
}
