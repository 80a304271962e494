import { randomUUID } from 'node:crypto';
import jmespath from '@jmespath-community/jmespath';
import { convertBigInts, mayHaveLargeNumbers, parseExactJson } from '../../../platform/json/exact-json.ts';
import type { Expression } from './bounded-interpreter.ts';

/** Texts, names and literals of an expression, also without their ends, so that each character is read once. */
const quoted = /'(?:[^'\\]|\\[\s\S])*'?|"(?:[^"\\]|\\[\s\S])*"?|`((?:[^`\\]|\\[\s\S])*)(`?)/g;

/** Marks a literal with its number. It is random, so no expression can contain it. */
const mark = `${randomUUID()}:`;

/**
 * Compiles an expression. Integers beyond 2^53 in its literals keep their digits; the library would read them as doubles.
 * @throws Error when the expression does not parse
 */
export function compileExactly(source: string): Expression {
  if (!mayHaveLargeNumbers(source)) return jmespath.compile(source);
  const values: unknown[] = [];
  const marked = source.replaceAll(quoted, (text: string, literal: string | undefined, end: string | undefined) => {
    const value = literal === undefined || end === '' ? undefined : readExactly(literal.replaceAll('\\`', '`'));
    return value === undefined ? text : `\`"${mark}${values.push(value) - 1}"\``;
  });
  const expression = jmespath.compile(marked);
  if (values.length > 0) restore(expression, values);
  return expression;
}

/** @returns undefined for a literal without such integers */
function readExactly(literal: string): unknown {
  try {
    const value = parseExactJson(literal);
    return convertBigInts(value, Number) === value ? undefined : value;
  } catch {
    return undefined;
  }
}

/** Puts the values into the nodes of the marked literals. */
function restore(node: object, values: readonly unknown[]): void {
  for (const [name, child] of Object.entries(node)) {
    if (typeof child === 'object' && child !== null) restore(child, values);
    else if (typeof child === 'string' && child.startsWith(mark)) {
      Reflect.set(node, name, values[Number(child.slice(mark.length))]);
    }
  }
}
