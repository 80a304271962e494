import { fieldInvalid, quote, quoteNames } from '../../kernel/validation/validation-error.ts';

/** The most names in the URL of an endpoint. */
export const maxChosenNames = 200;

/** The tools that the URL of an endpoint names. */
export interface Choice {
  readonly bundles: readonly string[];
  readonly tools: readonly string[];
  readonly toolsets: readonly string[];
  /** `?tools=all`: list every tool, however many there are, and also those that cannot work now. */
  readonly isFull: boolean;
}

const parameters = ['bundles', 'tools', 'toolset'] as const;

/**
 * Reads the choice from a query string. A parameter may be repeated, and each value may hold several names, separated by commas.
 * @param others the parameters that have another meaning
 * @throws Problem REQUEST_VALIDATION_ERROR for another parameter, and for more than {@link maxChosenNames} names
 */
export function readChoice(query: Readonly<Record<string, unknown>>, others: readonly string[] = []): Choice {
  const known = new Set<string>([...parameters, ...others]);
  const unknown = Object.keys(query).find((name) => !known.has(name));
  if (unknown !== undefined) throw fieldInvalid('query', `the parameter ${quote(unknown)}`, quoteNames([...known]));
  const tools = namesIn(query.tools);
  const choice = {
    bundles: namesIn(query.bundles),
    tools: tools.filter((name) => name !== 'all'),
    toolsets: namesIn(query.toolset),
    isFull: tools.includes('all'),
  };
  const count = choice.bundles.length + choice.tools.length + choice.toolsets.length;
  if (count > maxChosenNames) throw fieldInvalid('query', `${count} names`, `at most ${maxChosenNames} names`);
  return choice;
}

/** Whether the URL names bundles, tools or toolsets. */
export function namesAny({ bundles, tools, toolsets }: Choice): boolean {
  return bundles.length + tools.length + toolsets.length > 0;
}

function namesIn(value: unknown): string[] {
  const values = Array.isArray(value) ? value : [value];
  return values
    .filter((one) => typeof one === 'string')
    .flatMap((one) => one.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
