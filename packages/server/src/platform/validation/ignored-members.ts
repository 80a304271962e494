import { quoteText } from '../quote-text.ts';
import { didYouMean } from './field-errors.ts';

/** The maximum number of members that an answer names. */
const mostNamed = 20;

interface ObjectSchema {
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Returns `warnings` of an answer, which name the unknown members of a body; no member if there are none. */
export function warningsOf({ properties }: ObjectSchema, body: object): { warnings?: string[] } {
  const unknown = Object.keys(body).filter((name) => !Object.hasOwn(properties, name));
  return warningsOfNames(unknown, Object.keys(properties));
}

/** Returns `warnings` of an answer for ignored names; no member if there are none. */
export function warningsOfNames(ignored: readonly string[], allowed: readonly string[]): { warnings?: string[] } {
  if (ignored.length === 0) return {};
  const warnings = ignored.slice(0, mostNamed).map((name) => describe(name, allowed));
  const more = ignored.length - warnings.length;
  return { warnings: more === 0 ? warnings : [...warnings, `${more} more unknown members were ignored.`] };
}

function describe(name: string, allowed: readonly string[]): string {
  const meant = didYouMean(name, allowed);
  const hint = meant === undefined ? '' : ` Did you mean ${quoteText(meant)}?`;
  return `Unknown member ${quoteText(name)} was ignored.${hint} Allowed: ${allowed.join(', ')}.`;
}
