import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { once } from '../../../platform/concurrency/once.ts';
import { describeErrors } from '../../../platform/validation/describe-errors.ts';
import { didYouMean } from '../../../platform/validation/field-errors.ts';
import {
  quote,
  sentenceWithoutPath,
  toErrorDetail,
  unknownParameter,
  type ValidationError,
} from '../../../platform/validation/validation-error.ts';
import type { ErrorCollector, FieldPath } from './error-collector.ts';

/**
 * Validates manifests and JSON Schemas with the schemas of the product. Their patterns are trusted and linear, so the built-in
 * regular expressions are safe. `useDefaults` fills in `method: GET`. Created on demand, because most starts find every bundle in
 * the cache.
 */
export const engine = once(
  () => new Ajv2020({ strict: false, allErrors: true, verbose: true, logger: false, useDefaults: true }),
);
const maxErrors = 20;

/** Whether a value is a valid JSON Schema 2020-12. */
export function checkMetaSchema(
  schema: Readonly<Record<string, unknown>>,
  root: FieldPath,
  errors: ErrorCollector,
): boolean {
  // `$schema` could select another meta-schema, so it is checked separately.
  const { $schema: _, ...rest } = schema;
  if (engine().validateSchema(rest) === true) return true;
  report({ schema: {}, errors: engine().errors }, root, errors);
  return false;
}

interface Checked {
  readonly schema: object;
  readonly errors: readonly ErrorObject[] | null | undefined;
}

export function report(check: Checked, root: FieldPath, errors: ErrorCollector): void {
  const options = { schema: check.schema, showsValue: () => true, limit: maxErrors };
  for (const error of describeErrors(check.errors ?? [], options)) {
    errors.add([...root, ...error.segments], describeMember(error));
  }
}

/** A manifest has members, so one that is not declared is no parameter. */
function describeMember(error: ValidationError): string {
  if (error.found !== unknownParameter) return sentenceWithoutPath(toErrorDetail(error));
  const name = error.segments.at(-1) ?? '';
  const meant = didYouMean(name, error.expected.split(', '));
  const hint = meant === undefined ? '' : ` Did you mean ${quote(meant)}?`;
  return `Unknown member ${quote(name)}.${hint} Allowed: ${error.expected}.`;
}
