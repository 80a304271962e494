import type { ErrorCollector, FieldPath } from './error-collector.ts';
import { childrenOf, isSubschema, type SchemaNode, type Subschema } from './subschemas.ts';

/** The maximum number of schemas that may apply to one value after references are followed. */
const maxInPlace = 5_000;

export interface ReferenceCheck {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly root: FieldPath;
  readonly nodes: readonly SchemaNode[];
  readonly errors: ErrorCollector;
}

/**
 * Checks that every `$ref` leads to a schema of the same document, without a cycle on one value. It also bounds the work: two
 * references in each of thirty definitions would take a billion steps.
 */
export function checkReferences({ schema, root, nodes, errors }: ReferenceCheck): void {
  const known = new Set<unknown>(nodes.map((node) => node.schema));
  let broken = false;
  for (const node of nodes) {
    if (typeof node.schema === 'boolean' || node.schema.$ref === undefined) continue;
    const message = describeError(node.schema.$ref, schema, known);
    if (message === undefined) continue;
    errors.add([...node.path, '$ref'], message);
    broken = true;
  }
  if (!broken) checkCost({ schema, root, nodes, errors });
}

function describeError(reference: unknown, document: unknown, known: ReadonlySet<unknown>): string | undefined {
  const text = JSON.stringify(reference);
  if (typeof reference !== 'string' || !reference.startsWith('#')) {
    return `${text} is outside of this document; only "#/…" is allowed.`;
  }
  const target = resolvePointer(reference, document);
  return known.has(target) ? undefined : `${text} leads to no schema of this document.`;
}

/** Returns the value that a `#/…` reference points to; undefined when there is none. */
export function resolvePointer(reference: string, document: unknown): unknown {
  if (reference === '#') return document;
  if (!reference.startsWith('#/')) return undefined;
  let value: unknown = document;
  for (const escaped of reference.slice(2).split('/')) {
    const segment = decodeSegment(escaped);
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined;
    value = Reflect.get(value, segment);
  }
  return value;
}

function decodeSegment(escaped: string): string {
  try {
    return decodeURIComponent(escaped).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return escaped;
  }
}

function checkCost({ schema, root, nodes, errors }: ReferenceCheck): void {
  const costs = new Map<Subschema, number>();
  const under = new Set<Subschema>();
  const costOf = (node: Subschema): number => {
    if (typeof node === 'boolean') return 1;
    const counted = costs.get(node);
    if (counted !== undefined) return counted;
    if (under.has(node)) return Number.POSITIVE_INFINITY;
    under.add(node);
    const cost = 1 + inPlaceOf(node, schema).reduce((sum, child) => sum + costOf(child), 0);
    under.delete(node);
    costs.set(node, cost);
    return cost;
  };
  for (const node of nodes) {
    const cost = costOf(node.schema);
    if (cost <= maxInPlace) continue;
    const circle = cost === Number.POSITIVE_INFINITY;
    errors.add(
      node.path.length > root.length ? node.path : root,
      circle
        ? 'Its references form a cycle that applies to the same value forever.'
        : `Applies more than ${maxInPlace} schemas to one value after its references are resolved.`,
    );
    return;
  }
}

function inPlaceOf(node: Readonly<Record<string, unknown>>, document: unknown): Subschema[] {
  const children = childrenOf(node).filter((child) => child.inPlace);
  const target = typeof node.$ref === 'string' ? resolvePointer(node.$ref, document) : undefined;
  return [...children.map((child) => child.schema), target].filter(isSubschema);
}
