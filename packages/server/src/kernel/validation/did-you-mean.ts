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
export function didYouMean(written: string): string | undefined {
  if (known.has(written) || otherDialects.has(written) || /^(\$|x-|.{0,3}$|.{31})/.test(written)) return undefined;
  const most = written.length < 6 ? 1 : 2;
  return keywords.find(
    (keyword) => Math.abs(keyword.length - written.length) <= most && distance(written, keyword) <= most,
  );
}

/** The Damerau–Levenshtein distance, ignoring case. */
function distance(written: string, candidate: string): number {
  const [a, b] = [written.toLowerCase(), candidate.toLowerCase()];
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let row = 1; row <= a.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const at = (line: readonly number[], index: number) => line[index] ?? Number.POSITIVE_INFINITY;
      next.push(
        Math.min(
          ...[at(last, column) + 1, at(next, column - 1) + 1, at(last, column - 1) + (isSame ? 0 : 1)],
          swapped ? at(before, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    [before, last] = [last, next];
  }
  return last[b.length] ?? Number.POSITIVE_INFINITY;
}
