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
