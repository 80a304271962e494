import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import { once } from '../concurrency/once.ts';
import { pointerSegments } from './validation-error.ts';

/**
 * Creates a function that finds the errors of all declared fields of a body, in the order of the schema, and then the first
 * undeclared field. AJV could report all errors itself, but their number would grow with the body. Here each declared
 * field is checked once, and each check stops at its first error.
 */
export function createFieldChecks(ajv: Ajv, schema: object): (data: object) => ErrorObject[] {
  const { type, properties, required, additionalProperties, $defs } = schema as ObjectSchema;
  const names = type === 'object' ? Object.keys(properties ?? {}) : [];
  const compile = (rules: object) => ajv.compile({ type, ...($defs === undefined ? {} : { $defs }), ...rules });
  const checks = new Map<string, ValidateFunction>();

  /** The places in this schema are those of the whole schema, which describes the errors. */
  function checkOf(name: string): ValidateFunction {
    const known = checks.get(name);
    if (known !== undefined) return known;
    const isRequired = required?.includes(name) === true;
    const check = compile({ properties: { [name]: properties?.[name] }, required: isRequired ? [name] : [] });
    checks.set(name, check);
    return check;
  }
  const checkNames = once(() =>
    compile({ properties: Object.fromEntries(names.map((name) => [name, {}])), additionalProperties }),
  );
  return (data) => {
    const errors = names.flatMap((name) => errorsOf(checkOf(name), data));
    return additionalProperties === false ? [...errors, ...errorsOf(checkNames(), data)] : errors;
  };
}

/** The parts of a body's schema that declare its fields. */
interface ObjectSchema {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly $defs?: object;
}

function errorsOf(check: ValidateFunction, data: object): readonly ErrorObject[] {
  return check(data) ? [] : (check.errors ?? []);
}

/** The name of the field of a body that an error is about; undefined for an error of the body itself. */
export function fieldOf({ keyword, instancePath, params }: ErrorObject): string | undefined {
  const [name] = pointerSegments(instancePath);
  if (name !== undefined) return name;
  return keyword === 'required' ? String(params.missingProperty) : undefined;
}

/** The maximum number of characters of a name that is compared. */
const maxLength = 64;

/**
 * Finds the name that the caller probably wanted: the first candidate that differs in at most two typing errors, or in one when the
 * written name is shorter than six characters. Case does not count. Undefined when no candidate is that similar.
 */
export function didYouMean(written: string, candidates: readonly string[]): string | undefined {
  if (written.length > maxLength) return undefined;
  const most = written.length < 6 ? 1 : 2;
  return candidates.find(
    (candidate) => Math.abs(candidate.length - written.length) <= most && distance(written, candidate) <= most,
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
