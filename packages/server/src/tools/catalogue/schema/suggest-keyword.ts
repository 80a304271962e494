import { didYouMean } from '../../../platform/validation/field-errors.ts';

/** Keywords of JSON Schema 2020-12 that a schema may use. */
const keywords = [
  ...['type', 'enum', 'const', 'title', 'description', 'default', 'examples', 'format', 'pattern', 'deprecated'],
  ...['multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum', 'maxLength', 'minLength'],
  ...['maxItems', 'minItems', 'uniqueItems', 'maxContains', 'minContains', 'maxProperties', 'minProperties'],
  ...['required', 'dependentRequired', 'properties', 'patternProperties', 'additionalProperties', 'propertyNames'],
  ...['items', 'prefixItems', 'contains', 'dependentSchemas', 'unevaluatedItems', 'unevaluatedProperties'],
  ...['allOf', 'anyOf', 'oneOf', 'then', 'else', 'readOnly', 'writeOnly', 'contentEncoding', 'contentMediaType'],
  ...['contentSchema'],
];
const known: ReadonlySet<string> = new Set(keywords);
/** Keywords of other dialects, which resemble a typing error. */
const otherDialects: ReadonlySet<string> = new Set(['example']);

/**
 * Suggests the keyword for a misspelt one. Validators ignore unknown keywords, so authors would not notice that `requierd` has no
 * effect. Undefined for names that resemble no keyword, because schemas may contain annotations.
 */
export function suggestKeyword(written: string): string | undefined {
  if (known.has(written) || otherDialects.has(written) || /^(\$|x-|.{0,3}$)/.test(written)) return undefined;
  return didYouMean(written, keywords);
}
