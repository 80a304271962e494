import { randomUUID } from 'node:crypto';
import jmespath, { type JSONValue } from '@jmespath-community/jmespath';
import type { ResponseMapping } from '@quartermaster/plugin-kit';
import { convertBigInts, mayHaveLargeNumbers, parseExactJson } from '../../../platform/json/exact-json.ts';
import { type Expression, evaluateExpression, type Mismatches } from './bounded-interpreter.ts';
import { type ExpressionBudget, ExpressionTooExpensive } from './expression-budget.ts';

/** The data that the expressions of a mapping can read. */
export interface MappingScope {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly input: unknown;
}

export type Evaluated = { readonly value: unknown; readonly mismatches: Mismatches } | { readonly wrong: string };
/**
 * All expressions of one answer share a budget.
 *
 * @throws ExpressionTooExpensive when the evaluation was stopped, so that the value is unknown
 */
export type Evaluate = (scope: MappingScope, budget: ExpressionBudget) => Evaluated;

/** The compiled expressions of a `response`; null where the manifest declares none. */
export interface Mapping {
  readonly output: Evaluate | null;
  readonly failedWhen: Evaluate | null;
  readonly credentialsRejectedWhen: Evaluate | null;
}

/** @throws Error whose message names the expression that does not parse */
export function compileMapping(mapping: ResponseMapping): Mapping {
  return {
    output: compileExpression('output', mapping.output),
    failedWhen: compileExpression('failed_when', mapping.failed_when),
    credentialsRejectedWhen: compileExpression('credentials_rejected_when', mapping.credentials_rejected_when),
  };
}

/** @param name the member of `response`, for errors */
export function compileExpression(name: string, source: string | undefined): Evaluate | null {
  if (source === undefined) return null;
  const expression = parse(name, source);
  return (scope, budget) => {
    try {
      const mismatches: Mismatches = new Set();
      // A scope holds only parsed JSON, strings and numbers.
      const value = evaluateExpression(expression, scope as unknown as JSONValue, budget, mismatches);
      return { value, mismatches };
    } catch (error) {
      if (error instanceof ExpressionTooExpensive) throw error.of(`response.${name}`);
      return { wrong: `response.${name}: ${error instanceof Error ? error.message : String(error)}` };
    }
  };
}

function parse(name: string, source: string) {
  try {
    return compileExactly(source);
  } catch (error) {
    throw new Error(`response.${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Truth as JMESPath defines it: null, false and empty values are false; 0 is true. */
export function isTrue(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

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
