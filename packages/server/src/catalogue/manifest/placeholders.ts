/** A placeholder of a template: `{name}` is an input parameter, `{credential:NAME}` a credential. */
export interface Placeholder {
  readonly kind: 'parameter' | 'credential';
  readonly name: string;
}

export interface Template {
  readonly placeholders: readonly Placeholder[];
  /** The part that is neither a plain text nor a placeholder, when there is one. */
  readonly malformed: string | undefined;
}

const token = /\{\{|\{(credential:)?([a-zA-Z0-9_.-]{1,64})\}|\{/g;

/** Finds the placeholders of a text; `{{` is a plain brace, a closing brace alone is plain too. */
export function readTemplate(text: string): Template {
  const placeholders: Placeholder[] = [];
  let malformed: string | undefined;
  for (const match of text.matchAll(token)) {
    const [found, credential, name] = match;
    if (found === '{{') continue;
    if (name === undefined) malformed ??= text.slice(match.index, match.index + 30);
    else placeholders.push({ kind: credential === undefined ? 'parameter' : 'credential', name });
  }
  return { placeholders, malformed };
}

/** Every text inside a value, with the path to it. */
export function* textsOf(
  value: unknown,
  path: readonly string[],
): Generator<{ text: string; path: readonly string[] }> {
  if (typeof value === 'string') yield { text: value, path };
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) yield* textsOf(member, [...path, name]);
}
