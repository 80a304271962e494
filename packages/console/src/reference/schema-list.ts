import {
  boundsOf,
  type JsonSchema,
  kindsOf,
  patternOf,
  resolve,
  variantsOf,
} from '../components/schema/json-schema.ts';
import { element, sentence } from './element.ts';
import { language, word } from './words.ts';

const deepest = 5;

/** A schema as a list of its members; nested members are collapsed. */
export function schemaList(schema: JsonSchema, root: JsonSchema, depth = 0): HTMLElement | null {
  const whole = resolve(schema, root);
  if (depth > deepest) return null;
  const members = Object.entries(whole.properties ?? {});
  if (members.length > 0) {
    const required = new Set(whole.required);
    const rows = members.map(([name, member]) =>
      memberRow({ name, member, root, depth, isRequired: required.has(name) }),
    );
    return element('dl', {}, ...rows);
  }
  const variants = variantsOf(whole);
  if (variants.length > 0) {
    const lists = variants.map((variant) => schemaList(variant, root, depth + 1) ?? kindLine(resolve(variant, root)));
    return element(
      'div',
      { class: 'variants' },
      element('div', { class: 'kind', lang: language }, word.oneOf),
      ...lists,
    );
  }
  if (typeof whole.items === 'object') {
    const items = schemaList(whole.items, root, depth + 1);
    return items === null
      ? null
      : element('div', {}, element('div', { class: 'kind', lang: language }, word.each), items);
  }
  return null;
}

function kindLine(schema: JsonSchema): HTMLElement {
  return element('div', { class: 'kind' }, describeKind(schema));
}

/** The texts of the document are in English, so that the unit is, too. */
function describeKind(schema: JsonSchema): string {
  const parts = [kindsOf(schema).join(' | '), boundsOf(schema, 'characters'), patternOf(schema)];
  return parts.filter(Boolean).join(' · ');
}

interface Member {
  readonly name: string;
  readonly member: JsonSchema;
  readonly root: JsonSchema;
  readonly depth: number;
  readonly isRequired: boolean;
}

function memberRow({ name, member, root, depth, isRequired }: Member): HTMLElement {
  const schema = resolve(member, root);
  const values = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  const inner = schemaList(schema, root, depth + 1);
  const head = element(
    'dt',
    {},
    element('code', { class: 'name' }, name),
    element('span', { class: 'kind' }, describeKind(schema)),
    isRequired ? element('span', { class: 'required', lang: language }, word.required) : null,
    schema.default === undefined ? null : element('span', { class: 'kind' }, `= ${JSON.stringify(schema.default)}`),
  );
  const body = element(
    'dd',
    {},
    sentence(schema.description ?? ''),
    values.length === 0
      ? null
      : element('div', { class: 'values' }, ...values.map((value) => element('code', {}, JSON.stringify(value)))),
    inner === null || depth < 1 ? inner : element('details', {}, element('summary', {}, `${name} { … }`), inner),
  );
  return element('div', { class: 'member' }, head, body);
}
