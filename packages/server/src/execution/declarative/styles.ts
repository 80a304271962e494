import type { ParameterStyle } from '@quartermaster/plugin-kit';
import { absent, asText } from './template.ts';

/** How a list or an object becomes text, for APIs that want it their way; OpenAPI calls these styles. */
type Pair = [string, string];

const separators: Readonly<Partial<Record<ParameterStyle, string>>> = { comma: ',', space: ' ', pipe: '|' };

/** The names and values that one parameter of a query or form becomes. Null and what is empty become nothing. */
export function stylePairs(name: string, value: unknown, style: ParameterStyle = 'repeat'): Pair[] {
  if (value === null || value === undefined) return [];
  if (typeof value !== 'object') return [[name, asText(value)]];
  if (style === 'json') return [[name, JSON.stringify(value)]];
  if (style === 'deep_object') return deepPairs(name, value);
  if (style === 'repeat' || style === 'members') {
    if (Array.isArray(value)) return value.flatMap((item) => (item === null ? [] : [[name, asText(item)] as Pair]));
    return style === 'repeat'
      ? [[name, asText(value)]]
      : Object.entries(value).flatMap(([key, item]) => stylePairs(key, item));
  }
  const text = styleText(value, style);
  return text === '' ? [] : [[name, text]];
}

/** By the name under which something is sent. */
export type Styles = Readonly<Record<string, ParameterStyle>>;

export function styleOf(styles: Styles, name: string): ParameterStyle | undefined {
  return Object.hasOwn(styles, name) ? styles[name] : undefined;
}

/** As stylePairs, in the style that its name has; nothing for what is absent. */
export function namedPairs(name: string, value: unknown, styles: Styles = {}): Pair[] {
  return value === absent ? [] : stylePairs(name, value, styleOf(styles, name));
}

/** One text for a value in a path, a header or a cookie; without a style as in any other text. */
export function styleText(value: unknown, style?: ParameterStyle): string {
  if (typeof value !== 'object' || value === null || style === undefined) return asText(value);
  if (style === 'json') return JSON.stringify(value);
  const separator = separators[style] ?? ',';
  if (Array.isArray(value))
    return value
      .filter((item) => item !== null)
      .map(asText)
      .join(separator);
  const members = Object.entries(value).filter(([, item]) => item !== null && item !== undefined);
  if (style === 'pairs') return members.map(([key, item]) => `${key}=${asText(item)}`).join(separator);
  return members.flatMap(([key, item]) => [key, asText(item)]).join(separator);
}

/** `filter[a]=1&filter[b][c]=2`; the items of a list under one name, again and again. */
function deepPairs(name: string, value: unknown): Pair[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((item) => deepPairs(name, item));
  if (typeof value !== 'object') return [[name, asText(value)]];
  return Object.entries(value).flatMap(([key, item]) => deepPairs(`${name}[${key}]`, item));
}
