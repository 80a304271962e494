import type { ErrorDetail } from '@quartermaster/contract';
import { Ajv, type ErrorObject } from 'ajv';
import type { FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify';
import type { FastifyValidationResult } from 'fastify/types/schema.js';
import { once } from '../concurrency/once.ts';
import { isJsonObject } from '../json/json-object.ts';
import type { Problem } from '../problem.ts';
import { describeErrors } from '../validation/describe-errors.ts';
import { createFieldChecks, fieldOf } from '../validation/field-errors.ts';
import { replaceLengthKeywords } from '../validation/length-keywords.ts';
import { toErrorDetail, validationFailed } from '../validation/validation-error.ts';

const common = { allErrors: false, useDefaults: true, removeAdditional: false, verbose: true, strict: false } as const;
const bodies = replaceLengthKeywords(new Ajv({ ...common, coerceTypes: false }));
const texts = replaceLengthKeywords(new Ajv({ ...common, coerceTypes: true }));
const validators = new WeakMap<object, FastifyValidationResult>();

/**
 * Compiles a schema once, when the first request needs it. Compiling all schemas would take a tenth of the start, and
 * many may never be used. A JSON body is validated unchanged; query, path and headers are texts that are converted to
 * numbers.
 */
export const compileValidator: FastifySchemaCompiler<object> = ({ schema, httpPart }) => validatorOf(schema, httpPart);

function validatorOf(schema: object, httpPart: string | undefined): FastifyValidationResult {
  let validate = validators.get(schema);
  if (validate === undefined) {
    const isBody = httpPart === 'body';
    validate = isBody ? bodyValidator(schema) : textValidator(schema);
    validators.set(schema, validate);
  }
  return validate;
}

/** Fastify's error type omits the details that Ajv reports, and the schema that was checked. */
type ReportedError = ErrorObject & { readonly root?: object };

function bodyValidator(schema: object): FastifyValidationResult {
  const compiled = once(() => bodies.compile(schema));
  const findErrors = once(() => createFieldChecks(bodies, schema));
  const validate: FastifyValidationResult = (data: unknown) => {
    if (compiled()(data)) return true;
    const first = compiled().errors ?? [];
    const fields = isJsonObject(data) ? findErrors()(data) : [];
    validate.errors = withRoot(fields.length === 0 ? first : fields, schema);
    return false;
  };
  return validate;
}

function textValidator(schema: object): FastifyValidationResult {
  const compiled = once(() => texts.compile(schema));
  const validate: FastifyValidationResult = (data: unknown) => {
    const isValid = compiled()(data);
    validate.errors = withRoot(compiled().errors ?? [], schema);
    return isValid;
  };
  return afterNumbers(schema as TextSchema, validate);
}

function withRoot(errors: readonly ErrorObject[], root: object): ReportedError[] {
  return errors.map((error) => ({ ...error, root }));
}

/** The schema of a query, a path or headers. */
interface TextSchema {
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>;
}

/**
 * Ajv accepts every text that JavaScript converts to a number, for example `0x10`. Only decimal digits are allowed
 * here.
 */
function afterNumbers({ properties = {} }: TextSchema, validate: FastifyValidationResult): FastifyValidationResult {
  const numbers = Object.entries(properties).filter(([, { type }]) => type === 'integer' || type === 'number');
  if (numbers.length === 0) return validate;
  const checked: FastifyValidationResult = (data: unknown) => {
    const members = data as Readonly<Record<string, unknown>>; // an object: what Fastify parsed
    for (const [name, { type }] of numbers) {
      const value = members[name];
      if (typeof value !== 'string' || /^-?\d+$/.test(value)) continue;
      const error = {
        keyword: 'type',
        instancePath: `/${name}`,
        schemaPath: '',
        params: { type: type ?? '' },
        data: value,
      };
      checked.errors = [error];
      return false;
    }
    const isValid = validate(data);
    checked.errors = validate.errors ?? null;
    return isValid;
  };
  return checked;
}

/** The error of a request. Its details list each wrong or missing field of a body once. */
export function validationProblem(errors: readonly FastifySchemaValidationError[], part = 'body'): Problem {
  const reported = errors as readonly ReportedError[]; // the validators above report these
  const groups = Object.values(Object.groupBy(reported, (error) => fieldOf(error) ?? ''));
  const [first = unknownError(part), ...others] = groups.flatMap((group = []) => describeFirst(group, part));
  return validationFailed([first, ...others]);
}

/** Describes the first error of one field, or of the body itself. */
function describeFirst(errors: readonly ReportedError[], part: string): ErrorDetail[] {
  const described = describeErrors(errors, {
    schema: errors[0]?.root ?? {},
    // The whole body may be a secret that belongs in one of its members.
    showsValue: ([name]) => part !== 'headers' && name !== undefined && name !== 'credentials',
    limit: 1,
  });
  return described.map((error) => toErrorDetail(error, part));
}

function unknownError(part: string): ErrorDetail {
  return toErrorDetail({ segments: [], found: 'another value', expected: 'a valid value' }, part);
}
