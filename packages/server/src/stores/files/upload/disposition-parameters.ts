import { multipartMalformed } from '../problems.ts';

/** A character of a `token` in RFC 9110. */
const tokenCharacter = /[!#$%&'*+.^_`|~0-9A-Za-z-]/;
const endsPlainValue = /[\s";,]/;

/** Returns the index after the token that starts at `from`, or `from` when there is none. */
export function endOfToken(text: string, from: number): number {
  return skipWhile(text, from, (character) => tokenCharacter.test(character));
}

/** Removes spaces and tabs at both ends. */
export function trimBlanks(text: string): string {
  const start = skipBlanks(text, 0);
  let end = text.length;
  while (end > start && isBlank(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

/** Parses `; name=value; name="value"` from the index `from`. Each character is read a bounded number of times. */
export function readParameters(text: string, from: number): Map<string, string> {
  const parameters = new Map<string, string>();
  let at = skipBlanks(text, from);
  while (at < text.length) {
    if (text[at] !== ';') throw malformed('its parameters are not separated by semicolons');
    at = skipBlanks(text, at + 1);
    if (at === text.length) break;
    const equals = endOfToken(text, at);
    if (equals === at || text[equals] !== '=') throw malformed('a parameter is not name=value');
    const key = text.slice(at, equals).toLowerCase();
    const { value, end } = text[equals + 1] === '"' ? readQuoted(text, equals + 1) : readPlain(text, equals + 1);
    if (parameters.has(key)) throw malformed(`the parameter ${key} occurs twice`);
    parameters.set(key, value);
    at = skipBlanks(text, end);
  }
  return parameters;
}

interface Value {
  readonly value: string;
  /** The index after the value. */
  readonly end: number;
}

function readPlain(text: string, from: number): Value {
  const end = skipWhile(text, from, (character) => !endsPlainValue.test(character));
  if (end === from) throw malformed('a parameter has no value');
  return { value: text.slice(from, end), end };
}

/** A backslash escapes only `"` and `\`, because `C:\path` is sent without escapes. */
function readQuoted(text: string, opening: number): Value {
  const closing = closingQuote(text, opening);
  if (closing === -1) throw malformed('a quoted value does not end');
  return { value: text.slice(opening + 1, closing).replace(/\\(["\\])/g, '$1'), end: closing + 1 };
}

/**
 * Finds the first quote that no backslash escapes. Some clients do not escape, so a value may end in a backslash
 * (`"C:\"`). When every quote is escaped, the last one ends the value.
 */
function closingQuote(text: string, opening: number): number {
  let last = -1;
  for (let at = opening + 1; at < text.length; at += 1) {
    if (text[at] === '"') return at;
    if (text[at] !== '\\') continue;
    const next = text[at + 1];
    if (next === '"') last = at + 1;
    if (next === '"' || next === '\\') at += 1;
  }
  return last;
}

function skipBlanks(text: string, from: number): number {
  return skipWhile(text, from, isBlank);
}

function skipWhile(text: string, from: number, matches: (character: string) => boolean): number {
  let at = from;
  while (at < text.length && matches(text[at] ?? '')) at += 1;
  return at;
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}

export function malformed(what: string) {
  return multipartMalformed(`in a Content-Disposition, ${what}.`);
}
