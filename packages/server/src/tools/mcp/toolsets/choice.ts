import { fieldInvalid, quote, quoteNames } from '../../../platform/validation/validation-error.ts';

/** The maximum number of names in the URL of an endpoint. */
const maxChosenNames = 200;

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
 * @throws Problem REQUEST_VALIDATION_ERROR for another parameter, for one without a name, for `all` beside names of tools, and
 *   for more than {@link maxChosenNames} names
 */
export function readChoice(query: Readonly<Record<string, unknown>>, others: readonly string[] = []): Choice {
  checkParameters(query, [...parameters, ...others]);
  // Without this check, an empty value would offer every tool.
  for (const name of parameters) {
    if (query[name] !== undefined && namesIn(query[name]).length === 0)
      throw fieldInvalid(`query/${name}`, 'no name', 'names');
  }
  const tools = namesIn(query.tools);
  if (tools.includes('all') && tools.some((name) => name !== 'all')) {
    throw fieldInvalid('query/tools', '"all" and names of tools', '"all" or names of tools');
  }
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

/** @throws Problem REQUEST_VALIDATION_ERROR for a parameter that is not known */
export function checkParameters(query: Readonly<Record<string, unknown>>, known: readonly string[]): void {
  const unknown = Object.keys(query).find((name) => !known.includes(name));
  if (unknown !== undefined) throw fieldInvalid('query', `the parameter ${quote(unknown)}`, quoteNames(known));
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
