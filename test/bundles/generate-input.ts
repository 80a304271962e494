import fc from 'fast-check';

/** A random source for values that match a JSON Schema. The same seed gives the same values. */
export interface Random {
  /** Returns an integer from 0 up to, but not including, the limit. */
  next(limit: number): number;
}

/** Mulberry32, a small generator with the same numbers on every machine. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return {
    next: (limit) => {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) % Math.max(1, Math.floor(limit));
    },
  };
}

type Schema = Readonly<Record<string, unknown>>;

/** Half of the optional members are generated, and none below this depth, so that recursive schemas end. */
const maxDepth = 4;

export function generateValue(root: Schema, random: Random): unknown {
  const generate = (schemaValue: unknown, depth: number): unknown => {
    const schema = follow(schemaValue, root);
    if (schema.const !== undefined) return schema.const;
    if (Array.isArray(schema.enum)) return pick(schema.enum, random);
    if (Array.isArray(schema.allOf)) return all(schema, depth);
    const choices = schema.anyOf ?? schema.oneOf;
    if (Array.isArray(choices))
      return generate({ ...without(schema, ['anyOf', 'oneOf']), ...follow(pick(choices, random), root) }, depth);
    const types = [schema.type ?? guessType(schema)].flat().filter((type) => type !== 'null');
    return ofType(schema, { type: String(pick(types, random) ?? 'null'), depth });
  };

  const all = (schema: Schema, depth: number): unknown => {
    const parts = [without(schema, ['allOf']), ...(schema.allOf as unknown[])].map((part) => follow(part, root));
    const properties = Object.assign({}, ...parts.map((part) => part.properties));
    const required = parts.flatMap((part) => (Array.isArray(part.required) ? part.required : []));
    return generate({ ...Object.assign({}, ...parts), properties, required }, depth);
  };

  const ofType = (schema: Schema, { type, depth }: { type: string; depth: number }): unknown => {
    if (type === 'object') return object(schema, depth);
    if (type === 'array') return list(schema, depth);
    if (type === 'string') return text(schema, random);
    if (type === 'integer' || type === 'number') return number(schema, type, random);
    return type === 'boolean' ? random.next(2) === 0 : null;
  };

  const object = (schema: Schema, depth: number): unknown => {
    const required = new Set(Array.isArray(schema.required) ? schema.required : []);
    const members = Object.entries(Object(schema.properties)).filter(
      ([name]) => required.has(name) || (depth < maxDepth && random.next(2) === 0),
    );
    return Object.fromEntries(members.map(([name, child]) => [name, generate(child, depth + 1)]));
  };

  const list = (schema: Schema, depth: number): unknown => {
    const least = numberOf(schema.minItems, depth < maxDepth ? 1 : 0);
    const length = Math.min(numberOf(schema.maxItems, 4), least + random.next(3));
    return Array.from({ length }, () => generate(schema.items ?? { type: 'string' }, depth + 1));
  };

  return generate(root, 0);
}

function follow(value: unknown, root: Schema): Schema {
  let schema: Schema = typeof value === 'object' && value !== null ? (value as Schema) : {}; // an object of JSON
  for (let hops = 0; typeof schema.$ref === 'string' && hops < 50; hops += 1) {
    const { $ref, ...beside } = schema;
    schema = { ...Object(Reflect.get(Object(root.$defs), String($ref).slice('#/$defs/'.length))), ...beside };
  }
  return schema;
}

function without(schema: Schema, keywords: readonly string[]): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !keywords.includes(keyword)));
}

function guessType(schema: Schema): string {
  if (schema.properties !== undefined) return 'object';
  return schema.items === undefined ? 'string' : 'array';
}

function pick(list: readonly unknown[], random: Random): unknown {
  return list[random.next(list.length)];
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-03-14T15:09:26Z',
  date: '2026-03-14',
  time: '15:09:26Z',
  email: 'a.b@example.com',
  uri: 'https://example.com/a?b=c',
  url: 'https://example.com/a?b=c',
  'uri-reference': '/a/b',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uuid: '0193a5b2-7c41-4e00-8d21-3f5c1a9b7e44',
  byte: 'YWJj',
};

function text(schema: Schema, random: Random): string {
  const known = formats[String(schema.format)];
  if (known !== undefined) return known;
  if (typeof schema.pattern === 'string') {
    const [found] = fc.sample(fc.stringMatching(new RegExp(schema.pattern)), {
      seed: random.next(2 ** 31),
      numRuns: 1,
    });
    return found ?? '';
  }
  const least = numberOf(schema.minLength, 1);
  const most = numberOf(schema.maxLength, least + 12);
  const length = Math.min(most, Math.max(least, least + random.next(most - least + 1), 1));
  return Array.from({ length }, () => 'abcdefghijklmnopqrstuvwxyzABCXYZ0123456789'.charAt(random.next(42))).join('');
}

function number(schema: Schema, type: string, random: Random): number {
  const step = numberOf(schema.multipleOf, 1);
  const least = numberOf(
    schema.minimum,
    numberOf(schema.exclusiveMinimum, 0) + (schema.exclusiveMinimum === undefined ? 0 : step),
  );
  const most = numberOf(
    schema.maximum,
    numberOf(schema.exclusiveMaximum, least + 50 * step) - (schema.exclusiveMaximum === undefined ? 0 : step),
  );
  const steps = Math.min(1_000, Math.floor((most - least) / step));
  const value = Math.ceil(least / step) * step + random.next(steps + 1) * step;
  return type === 'integer' ? Math.min(Math.floor(value), most) : Math.min(value, most);
}
