/** A placeholder of a template: `{name}` is an input parameter, `{credential:NAME}` a credential. */
export interface Placeholder {
  readonly kind: 'parameter' | 'credential';
  readonly name: string;
}

export interface Template {
  readonly placeholders: readonly Placeholder[];
  /** The first part that is neither plain text nor a placeholder; undefined when there is none. */
  readonly malformed: string | undefined;
}

const token = /\{\{|\{(credential:)?([a-zA-Z0-9_.-]{1,64})\}|\{/g;

/** Finds the placeholders of a text. `{{` and a single closing brace are literal braces. */
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

/** Yields every text in a value, with its path. */
export function* textsOf(
  value: unknown,
  path: readonly string[],
): Generator<{ text: string; path: readonly string[] }> {
  if (typeof value === 'string') yield { text: value, path };
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) yield* textsOf(member, [...path, name]);
}
