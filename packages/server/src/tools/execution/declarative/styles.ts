import type { ParameterStyle } from '@quartermaster/plugin-kit';
import { absent, asText } from './template.ts';

/** A name and a value of a query or form. A style decides how lists and objects become text, as in OpenAPI. */
type Pair = [string, string];

const separators: Readonly<Partial<Record<ParameterStyle, string>>> = { comma: ',', space: ' ', pipe: '|' };

/** Returns the pairs that one parameter of a query or form becomes. Null and empty lists or objects give no pairs. */
export function stylePairs(name: string, value: unknown, style: ParameterStyle = 'repeat'): Pair[] {
  if (value === null || value === undefined) return [];
  if (typeof value !== 'object') return [[name, asText(value)]];
  if (style === 'json') return [[name, JSON.stringify(value)]];
  if (Object.keys(value).length === 0) return [];
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

/** The style of each parameter, by the name under which it is sent. */
export type Styles = Readonly<Record<string, ParameterStyle>>;

export function styleOf(styles: Styles, name: string): ParameterStyle | undefined {
  return Object.hasOwn(styles, name) ? styles[name] : undefined;
}

/** Calls {@link stylePairs} with the style of the name. An absent value gives no pairs. */
export function namedPairs(name: string, value: unknown, styles: Styles = {}): Pair[] {
  return value === absent ? [] : stylePairs(name, value, styleOf(styles, name));
}

/** The text of a value in a path, a header or a cookie. Without a style it is the text that {@link asText} returns. */
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

/** Nested names: `filter[a]=1&filter[b][c]=2`. The items of a list repeat one name. */
function deepPairs(name: string, value: unknown): Pair[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((item) => deepPairs(name, item));
  if (typeof value !== 'object') return [[name, asText(value)]];
  return Object.entries(value).flatMap(([key, item]) => deepPairs(`${name}[${key}]`, item));
}
