import { RE2JS } from 're2js';

/** What a schema engine needs of a compiled pattern. */
export interface LinearRegExp {
  test(text: string): boolean;
  /** The pattern; the schema engine tells two patterns apart by it. */
  toString(): string;
}

const maxPatternLength = 1_000;
/** RE2 costs text length × program size, so the second factor has a bound too. */
const maxProgramSize = 2_000;

/**
 * Compiles a `pattern` of a schema with an engine whose time is linear in the text: a schema may come from anywhere and
 * `^(a+)+$` holds a backtracking engine for seconds. Throws an Error whose message says what is not supported.
 */
export function compileLinearRegExp(pattern: string): LinearRegExp {
  if (pattern.length > maxPatternLength) throw new Error(`it is longer than ${maxPatternLength} characters`);
  if (!isEcmaPattern(pattern)) throw new Error('it is no ECMA-262 regular expression');
  // Back references have no linear-time meaning; the translation would read `\k<name>` as letters.
  if (/(?<!\\)(?:\\\\)*\\(?:k<|[1-9])/.test(pattern)) throw new Error('back references are not supported');
  const compiled = translateRegExp(pattern, false);
  if (compiled.programSize() > maxProgramSize) throw new Error('it is too large once its repetitions are unfolded');
  return compiled;
}

/** As compileLinearRegExp without its bounds: for patterns of our own. */
export function translateRegExp(pattern: string, caseInsensitive: boolean): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern), caseInsensitive ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (cause) {
    // RE2's message is "error parsing regexp: <reason>: `<part>`".
    const reason = cause instanceof Error ? cause.message.replace(/^error parsing regexp: /, '') : String(cause);
    throw new Error(`it does not run in linear time or is not supported (${reason})`, { cause });
  }
}

/** With or without the `u` flag: authors write `\-`, which only the older grammar knows. */
function isEcmaPattern(pattern: string): boolean {
  for (const flags of ['u', '']) {
    try {
      // composed: it is compiled to check its grammar, and no text is ever matched with it.
      new RegExp(pattern, flags);
      return true;
    } catch {
      // The other grammar may know it.
    }
  }
  return false;
}
