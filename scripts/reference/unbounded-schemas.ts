type Schema = Readonly<Record<string, unknown>>;

interface Operation {
  readonly operationId?: string;
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string; readonly schema: Schema }>;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

/** The part of an OpenAPI document that describes requests. */
export interface RequestDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

/** The member of a schema that names limits which bound the value and everything in it. */
export const limitsKeyword = 'x-limits';

/**
 * Returns the places in requests where a caller chooses an unbounded size or number: strings without `maxLength`,
 * arrays without `maxItems`, maps without `maxProperties`, integers without `minimum` and `maximum`. The limits named
 * in `x-limits` of the body bound undeclared members of objects and values of any form.
 */
export function findUnbounded(document: RequestDocument, limitNames: ReadonlySet<string>): string[] {
  const found: string[] = [];
  const schemas = document.components?.schemas ?? {};
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const name = operation.operationId ?? `${method} ${path}`;
      const look = (schema: Schema, place: string) =>
        walk({ schema, place: `${name} ${place}`, isBounded: false }, { found, schemas, limitNames, seen: new Set() });
      for (const { in: where, name: parameter, schema } of operation.parameters ?? [])
        look(schema, `${where}/${parameter}`);
      for (const { schema } of Object.values(operation.requestBody?.content ?? {})) look(schema, 'body');
    }
  }
  return found;
}

interface Walk {
  readonly found: string[];
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly limitNames: ReadonlySet<string>;
  readonly seen: Set<string>;
}

interface Visit {
  readonly schema: Schema;
  readonly place: string;
  /** Whether a limit of the table bounds all values in this place together. */
  readonly isBounded: boolean;
}

function walk({ schema, place, isBounded }: Visit, all: Walk): void {
  const report = (missing: string) => all.found.push(`${place}: ${missing}`);
  const named = (schema[limitsKeyword] ?? []) as readonly string[];
  for (const name of named) if (!all.limitNames.has(name)) report(`no limit ${name}`);
  const bounded = isBounded || named.length > 0;
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.replace('#/components/schemas/', '');
    const target = all.schemas[name];
    if (target === undefined) report(`no schema ${schema.$ref}`);
    else if (!all.seen.has(name))
      walk({ schema: target, place, isBounded: bounded }, { ...all, seen: new Set([...all.seen, name]) });
    return;
  }
  if (schema.enum !== undefined || schema.const !== undefined) return;
  const forms = ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => (schema[keyword] ?? []) as readonly Schema[]);
  for (const [index, form] of forms.entries())
    walk({ schema: form, place: `${place}(${index})`, isBounded: bounded }, all);
  const types = [schema.type ?? []].flat();
  if (types.length === 0 && forms.length === 0 && !bounded) report('any value without x-limits');
  if (types.includes('string') && schema.maxLength === undefined && named.length === 0) report('maxLength');
  if (types.includes('integer') && (schema.minimum === undefined || schema.maximum === undefined)) {
    report('minimum and maximum');
  }
  if (types.includes('array')) {
    if (schema.maxItems === undefined) report('maxItems');
    walk({ schema: (schema.items ?? {}) as Schema, place: `${place}[]`, isBounded: bounded }, all);
  }
  if (types.includes('object')) walkObject({ schema, place, isBounded: bounded }, all);
}

function walkObject({ schema, place, isBounded }: Visit, all: Walk): void {
  const properties = Object.entries((schema.properties ?? {}) as Readonly<Record<string, Schema>>);
  for (const [name, property] of properties) walk({ schema: property, place: `${place}/${name}`, isBounded }, all);
  if (schema.additionalProperties === false) return;
  if (schema.maxProperties === undefined && properties.length === 0) all.found.push(`${place}: maxProperties`);
  if (!isBounded) all.found.push(`${place}: other members without x-limits`);
  const maps = [schema.additionalProperties, ...Object.values((schema.patternProperties ?? {}) as object)];
  for (const map of maps) {
    if (typeof map === 'object' && map !== null) walk({ schema: map as Schema, place: `${place}/*`, isBounded }, all);
  }
}
