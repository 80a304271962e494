import jmespath, { type JSONValue } from '@jmespath-community/jmespath';
import type { ResponseMapping } from '@quartermaster/plugin-kit';
import { evaluateExpression } from './bounded-interpreter.ts';
import { createExpressionBudget, type ExpressionBudget, ExpressionTooExpensive } from './expression-budget.ts';

/** What the expressions of a mapping see. */
export interface MappingScope {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly input: unknown;
}

export type Evaluated = { readonly value: unknown } | { readonly wrong: string };
/** @throws ExpressionTooExpensive when it was stopped: then nothing is known about its value */
export type Evaluate = (scope: MappingScope) => Evaluated;

/** The expressions of a `response`, compiled; null where the mapping has none. */
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

function compileExpression(name: string, source: string | undefined): Evaluate | null {
  if (source === undefined) return null;
  const expression = parse(name, source);
  return (scope) => {
    try {
      // Everything in a scope came out of JSON or is a string or number.
      return { value: evaluateExpression(expression, scope as unknown as JSONValue, budgetOf(scope)) };
    } catch (error) {
      if (error instanceof ExpressionTooExpensive) throw error.of(`response.${name}`);
      return { wrong: `response.${name}: ${error instanceof Error ? error.message : String(error)}` };
    }
  };
}

/** The expressions of one answer share one budget, since they are evaluated in one turn of the event loop. */
const budgets = new WeakMap<MappingScope, ExpressionBudget>();

function budgetOf(scope: MappingScope): ExpressionBudget {
  const budget = budgets.get(scope) ?? createExpressionBudget();
  budgets.set(scope, budget);
  return budget;
}

function parse(name: string, source: string) {
  try {
    return jmespath.compile(source);
  } catch (error) {
    throw new Error(`response.${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** JMESPath's own idea of truth: null, false and everything empty are false; 0 is true. */
export function isTrue(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
