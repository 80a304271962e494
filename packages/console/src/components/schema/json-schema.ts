/** The keywords of JSON Schema that the console shows. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema | boolean;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly oneOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly format?: string;
  readonly contentEncoding?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly 'x-secret'?: boolean;
}

/** Resolves a reference within the document. An unresolvable reference allows any value. */
export function resolve(schema: JsonSchema, root: JsonSchema): JsonSchema {
  let current = schema;
  for (let steps = 0; current.$ref !== undefined && steps < 16; steps++) {
    const names = current.$ref.replace(/^#\/?/, '').split('/');
    let found: unknown = root;
    for (const name of names.filter(Boolean)) {
      const key = decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~');
      found = (found as Readonly<Record<string, unknown>> | undefined)?.[key];
    }
    const { $ref: _, ...beside } = current;
    current = { ...(found as JsonSchema | undefined), ...beside };
  }
  return current;
}

/** The types other than null, which means optional. */
export function kindsOf(schema: JsonSchema): readonly string[] {
  const kinds = schema.type === undefined ? [] : [schema.type].flat();
  return kinds.filter((kind) => kind !== 'null');
}

export function variantsOf(schema: JsonSchema): readonly JsonSchema[] {
  return (schema.oneOf ?? schema.anyOf ?? []).filter((variant) => variant.type !== 'null');
}

/**
 * The bounds of a value, such as `1 – 256 characters`. Patterns are for programmers: `patternOf` gives them.
 * @param characters the word of the language for them
 */
export function boundsOf(schema: JsonSchema, characters: string): string {
  const parts: string[] = [];
  if (schema.format !== undefined) parts.push(schema.format);
  const range = (least: number | undefined, most: number | undefined, unit: string) => {
    if (least !== undefined && most !== undefined) parts.push(`${least} – ${most}${unit}`);
    else if (least !== undefined) parts.push(`≥ ${least}${unit}`);
    else if (most !== undefined) parts.push(`≤ ${most}${unit}`);
  };
  range(schema.minimum, schema.maximum, '');
  range(schema.minLength, schema.maxLength, ` ${characters}`);
  range(schema.minItems, schema.maxItems, ' ×');
  return parts.join(' · ');
}

export function patternOf({ pattern }: JsonSchema): string {
  return pattern === undefined ? '' : `/${pattern}/`;
}
