/** Compiles texts and values with placeholders, once for each plugin. `{name}` is an input parameter, `{{` a literal brace. */

export type Input = Readonly<Record<string, unknown>>;

/** The result of a template whose placeholders are all absent. The member is left out. */
export const absent = Symbol('absent');

export type Rendered = unknown | typeof absent;
export type Render = (input: Input) => Rendered;

type Part = { readonly text: string } | { readonly name: string };

const token = /\{\{|\{([a-zA-Z0-9_.-]{1,64})\}/g;

export function parseText(template: string): readonly Part[] {
  const parts: Part[] = [];
  let text = '';
  let last = 0;
  for (const match of template.matchAll(token)) {
    text += template.slice(last, match.index);
    last = match.index + match[0].length;
    const name = match[1];
    if (name === undefined) {
      text += '{';
      continue;
    }
    if (text !== '') parts.push({ text });
    text = '';
    parts.push({ name });
  }
  text += template.slice(last);
  if (text !== '') parts.push({ text });
  return parts;
}

/** The names of all placeholders in a template, at any depth. */
export function placeholdersOf(template: unknown): string[] {
  if (typeof template === 'string') return parseText(template).flatMap((part) => ('name' in part ? [part.name] : []));
  if (typeof template !== 'object' || template === null) return [];
  return Object.values(template).flatMap(placeholdersOf);
}

/** Compiles a JSON value whose strings may hold placeholders. A string that is only a placeholder keeps the parameter's type. */
export function compileValue(template: unknown): Render {
  if (typeof template === 'string') return compileString(template);
  if (typeof template !== 'object' || template === null) return () => template;
  if (Array.isArray(template)) {
    const items = template.map(compileValue);
    return (input) => items.map((render) => render(input)).filter((item) => item !== absent);
  }
  const members = Object.entries(template).map(([name, value]) => [name, compileValue(value)] as const);
  return (input) =>
    // `Object.fromEntries` defines members, so a key `__proto__` does not set the prototype.
    Object.fromEntries(
      members.map(([name, render]) => [name, render(input)] as const).filter(([, value]) => value !== absent),
    );
}

function compileString(template: string): Render {
  const parts = parseText(template);
  const [only] = parts;
  if (only === undefined) return () => '';
  if (parts.length === 1) return 'name' in only ? (input) => parameter(input, only.name) : () => only.text;
  return (input) => {
    const values = parts.map((part) => ('name' in part ? parameter(input, part.name) : part.text));
    const isEmpty = parts.every((part, index) => !('name' in part) || values[index] === absent);
    return isEmpty ? absent : values.map((value) => (value === absent ? '' : asText(value))).join('');
  };
}

/** Reads own members only: `constructor` is absent unless the caller sent it. */
export function parameter(input: Input, name: string): Rendered {
  return Object.hasOwn(input, name) && input[name] !== undefined ? input[name] : absent;
}

/** The text of a value within a string: lists are joined with commas, objects are written as JSON. */
export function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  if (Array.isArray(value)) return value.map(asText).join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
