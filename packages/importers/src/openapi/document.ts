export type Json = Readonly<Record<string, unknown>>;

/** The rules of the catalogue for schemas, which the catalogue provides. */
export interface SchemaChecks {
  /** Returns why a pattern cannot be used in a schema; null when it can. */
  isLinearPattern(pattern: string): string | null;
  /** Returns one sentence for each error of a schema. */
  findSchemaErrors(schema: Json): readonly string[];
}

/** An OpenAPI or Discovery document, converted to OpenAPI 3.1, with a resolver for its references. */
export interface OpenApiDocument {
  /** The version of the original: `2.0`, `3.0.3`, `3.1.0`. */
  readonly version: string;
  readonly root: Json;
  readonly checks: SchemaChecks;
  /** The target of a `#/…` reference, across further references; undefined when there is none. */
  resolve(reference: string): unknown;
  /** Why a reference has no target: the end of a sentence. */
  whyUnresolved(reference: string): string;
  /** Returns the target of a reference, or any other value unchanged. */
  follow(value: unknown): unknown;
  /** Counts a step of the conversion. @throws Error after too many, which hostile documents need: each operation may refer to all schemas */
  spend(): void;
}

/** Twice what the document of Stripe needs, the largest one that is known. */
const mostSteps = 2_500_000;
/** The longest chain of references. */
const mostHops = 100;

/** Wraps any document whose references are internal. */
export function documentOf(version: string, root: Json, checks: SchemaChecks): OpenApiDocument {
  let steps = 0;
  const resolve = (reference: string, seen: readonly string[] = []): unknown => {
    if (seen.includes(reference) || seen.length > mostHops) return undefined;
    const target = lookUp(root, reference);
    return isReference(target) ? resolve(target.$ref, [...seen, reference]) : target;
  };
  return {
    version,
    root,
    checks,
    resolve: (reference) => resolve(reference),
    whyUnresolved: (reference) =>
      lookUp(root, reference) === undefined
        ? 'does not exist in this document'
        : 'refers only to itself or to other references',
    spend: () => {
      steps += 1;
      if (steps > mostSteps)
        throw new Error(
          `Converting the document takes more than ${mostSteps} steps. Choose fewer operations by tag, path or operation.`,
        );
    },
    follow: (value) => (isReference(value) ? resolve(value.$ref) : value),
  };
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isReference(value: unknown): value is Json & { readonly $ref: string } {
  return isJson(value) && typeof value.$ref === 'string';
}

/** Returns the own member of an object with a name from a document, which `Object.prototype` may also have. */
export function memberOf(value: unknown, name: string): unknown {
  return isJson(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Whether a manifest can have a member with this name. The catalogue refuses `__proto__`. */
export function isWritable(name: string): boolean {
  return name !== '__proto__';
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}

function lookUp(root: Json, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined;
  let value: unknown = root;
  for (const escaped of reference.slice(2).split('/')) {
    const segment = decode(escaped).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined;
    value = Reflect.get(value, segment);
  }
  return value;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
