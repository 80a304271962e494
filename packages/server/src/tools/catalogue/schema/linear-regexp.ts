import { RE2JS } from 're2js';

/** The interface that the schema engine requires of a compiled pattern. */
export interface LinearRegExp {
  test(text: string): boolean;
  /** The source of the pattern, by which the engine distinguishes patterns. */
  toString(): string;
}

const maxPatternLength = 1_000;
/** RE2 takes text length × program size, so the program size is bounded too. */
const maxProgramSize = 2_000;

/**
 * Compiles a `pattern` of a schema with an engine of linear time: schemas are untrusted, and `^(a+)+$` blocks a backtracking engine
 * for seconds. Throws an Error whose message names what is not supported.
 */
export function compileLinearRegExp(pattern: string): LinearRegExp {
  if (pattern.length > maxPatternLength) throw new Error(`it is longer than ${maxPatternLength} characters`);
  if (!isEcmaPattern(pattern)) throw new Error('it is not an ECMA-262 regular expression');
  // Back references cannot run in linear time, and the translation would read `\k<name>` as letters.
  if (/(?<!\\)(?:\\\\)*\\(?:k<|[1-9])/.test(pattern)) throw new Error('back references are not supported');
  const compiled = translateRegExp(pattern, false);
  if (compiled.programSize() > maxProgramSize) throw new Error('it is too large once its repetitions are expanded');
  return compiled;
}

/** Compiles without the bounds, for patterns of the product. */
export function translateRegExp(pattern: string, caseInsensitive: boolean): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern), caseInsensitive ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (cause) {
    // Removes the prefix of RE2's message "error parsing regexp: <reason>: `<part>`".
    const reason = cause instanceof Error ? cause.message.replace(/^error parsing regexp: /, '') : String(cause);
    throw new Error(`it does not run in linear time or is not supported (${reason})`, { cause });
  }
}

/** Whether the pattern is valid with or without the `u` flag. Authors write `\-`, which only the older grammar allows. */
function isEcmaPattern(pattern: string): boolean {
  for (const flags of ['u', '']) {
    try {
      // composed: it is compiled to check its grammar, and no text is ever matched with it.
      new RegExp(pattern, flags);
      return true;
    } catch {
      // Tries the other grammar.
    }
  }
  return false;
}
