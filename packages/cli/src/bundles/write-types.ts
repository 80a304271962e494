import type { PluginManifest } from '@quartermaster/plugin-kit';

type Schema = Readonly<Record<string, unknown>>;

/** Generates TypeScript types of plugin inputs and outputs for handlers: `GetWeatherInput`, `GetWeatherOutput`. */
export function writeTypes(plugins: Iterable<{ readonly id: string; readonly manifest: PluginManifest }>): string {
  const parts = [...plugins].flatMap(({ id, manifest }) => [
    ...declare(`${pascalCase(id)}Input`, manifest.input_schema),
    ...declare(`${pascalCase(id)}Output`, manifest.output_schema),
  ]);
  return `${['// Generated from the schemas by "quartermaster bundle types"; do not edit.', ...parts].join('\n\n')}\n`;
}

function declare(name: string, root: Schema): string[] {
  const definitions = Object.entries(Object(root.$defs)).map(
    ([definition, schema]) => `export type ${definitionName(name, definition)} = ${typeOf(schema, name)};`,
  );
  return [`export type ${name} = ${typeOf(root, name)};`, ...definitions];
}

function typeOf(value: unknown, root: string): string {
  if (typeof value === 'boolean') return value ? 'unknown' : 'never';
  const schema: Schema = Object(value);
  if (typeof schema.$ref === 'string') return referred(schema.$ref, root);
  if ('const' in schema) return literal(schema.const);
  if (Array.isArray(schema.enum)) return union(schema.enum.map(literal));
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return union(choices.map((choice) => typeOf(choice, root)));
  if (Array.isArray(schema.allOf)) {
    const { allOf, ...rest } = schema;
    const own = rest.properties === undefined ? [] : [typeOf(rest, root)];
    return [...own, ...allOf.map((part) => typeOf(part, root))].map(bracketed).join(' & ');
  }
  const types = [schema.type ?? (schema.properties === undefined ? [] : 'object')].flat();
  return types.length === 0 ? 'unknown' : union(types.map((type) => ofType(String(type), schema, root)));
}

function referred(reference: string, root: string): string {
  if (reference === '#') return root;
  const definition = /^#\/\$defs\/([^/]+)$/.exec(reference)?.[1];
  return definition === undefined ? 'unknown' : definitionName(root, definition);
}

function ofType(type: string, schema: Schema, root: string): string {
  if (type === 'object') return objectType(schema, root);
  if (type === 'integer') return 'number';
  if (type !== 'array') return ['string', 'number', 'boolean', 'null'].includes(type) ? type : 'unknown';
  if (Array.isArray(schema.prefixItems))
    return `[${schema.prefixItems.map((item) => typeOf(item, root)).join(', ')}, ...unknown[]]`;
  return `Array<${typeOf(schema.items ?? true, root)}>`;
}

function objectType(schema: Schema, root: string): string {
  const members = Object.entries(Object(schema.properties));
  const others =
    typeof schema.additionalProperties === 'object' ? typeOf(schema.additionalProperties, root) : 'unknown';
  if (members.length === 0)
    return schema.additionalProperties === false ? 'Record<string, never>' : `Record<string, ${others}>`;
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const lines = members.flatMap(([name, member]) => {
    const optional = required.has(name) || Object(member).default !== undefined ? '' : '?';
    return [comment(Object(member).description), `readonly ${key(name)}${optional}: ${typeOf(member, root)};`];
  });
  return `{\n${lines
    .filter((line) => line !== '')
    .map(indented)
    .join('\n')}\n}`;
}

function comment(description: unknown): string {
  return typeof description === 'string'
    ? `/** ${description.replaceAll('*/', '* /').replace(/\s+/g, ' ').trim()} */`
    : '';
}

function indented(text: string): string {
  return text.replace(/^/gm, '  ');
}

function key(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function union(types: readonly string[]): string {
  return [...new Set(types)].map(bracketed).join(' | ') || 'never';
}

function bracketed(type: string): string {
  return / [&|] /.test(type) && !type.startsWith('{') ? `(${type})` : type;
}

function literal(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'unknown' : JSON.stringify(value);
}

function definitionName(root: string, definition: string): string {
  return `${root}${pascalCase(definition)}`;
}

function pascalCase(id: string): string {
  return id
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
