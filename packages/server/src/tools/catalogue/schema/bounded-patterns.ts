import type { Format } from 'ajv';
import type { CheckBudget } from './check-budget.ts';
import { compileLinearRegExp, type LinearRegExp } from './linear-regexp.ts';

/**
 * Compiles a `pattern` for values that callers and third parties choose. A text that exceeds the budget ends the check. The
 * pattern of base64 is exempt: pictures are longer, and the JavaScript engine matches them in a few milliseconds.
 */
export function compileBoundedRegExp(pattern: string, budget: CheckBudget): LinearRegExp {
  const regExp = compileLinearRegExp(pattern);
  const characters = compileCharacterRun(pattern);
  if (characters !== undefined) return { test: (text) => characters.test(text), toString: () => pattern };
  return {
    test: (text) => {
      budget.match(text);
      return regExp.test(text);
    },
    toString: () => pattern,
  };
}

/** `^[…]+$` and `^[…]*$`, with padding such as `={0,2}` before the end. The class has no escape except those of punctuation. */
const characterRun = /^\^(\[[^\\^\]][^\\\]]*(?:\\[-/+_][^\\\]]*)*\])[+*](?:=(?:[?*+]|\{\d(?:,\d)?\})?)?\$$/;

/**
 * Returns the expression of JavaScript for a pattern that allows one class of characters. It reads each character at most twice,
 * because no character belongs both to the class and to the padding.
 */
function compileCharacterRun(pattern: string): RegExp | undefined {
  const [, characters] = characterRun.exec(pattern) ?? [];
  if (characters === undefined) return undefined;
  // composed: one class between the ends of the text.
  if (new RegExp(`^${characters}$`).test('=')) return undefined;
  // composed: the class, then padding whose character is not in the class.
  return new RegExp(pattern);
}

/** Returns a format that reads no more text than the budget allows. */
export function boundedFormat(format: Exclude<Format, string>, budget: CheckBudget): Exclude<Format, string> {
  if (typeof format === 'function') return bounded(format, budget);
  if (typeof format !== 'object' || format instanceof RegExp || format.type === 'number') return format;
  const { validate } = format;
  // The table of ajv-formats has functions for texts, and none is asynchronous.
  return { ...format, validate: bounded(validate as (text: string) => boolean, budget) } as typeof format;
}

function bounded(isValid: (text: string) => boolean, budget: CheckBudget): (text: string) => boolean {
  return (text) => {
    budget.match(text);
    return isValid(text);
  };
}
