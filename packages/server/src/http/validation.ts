import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify';
import type { FastifyValidationResult } from 'fastify/types/schema.js';
import type { Problem } from '../kernel/problem.ts';
import { describeErrors } from '../kernel/validation/describe-errors.ts';
import { toErrorDetail, validationFailed } from '../kernel/validation/validation-error.ts';
import { replaceLengthKeywords } from './length-keywords.ts';

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
    validate = atFirstUse(schema, () => (isBody ? bodies : texts).compile(schema));
    if (!isBody) validate = afterNumbers(schema as TextSchema, validate);
    validators.set(schema, validate);
  }
  return validate;
}

/** Fastify's error type omits the details that Ajv reports, and the schema that was checked. */
type ReportedError = ErrorObject & { readonly root?: object };

function atFirstUse(schema: object, compile: () => ValidateFunction): FastifyValidationResult {
  let compiled: ValidateFunction | undefined;
  const validate: FastifyValidationResult = (data: unknown) => {
    compiled ??= compile();
    const isValid = compiled(data);
    validate.errors = compiled.errors?.map((error): ReportedError => ({ ...error, root: schema })) ?? null;
    return isValid;
  };
  return validate;
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

/** For example: `body/purpose must be one of "record_file", "qa_record_file"; received "x".` */
export function validationProblem(errors: readonly FastifySchemaValidationError[], part = 'body'): Problem {
  const reported = errors as readonly ReportedError[]; // the validators above report these
  const [error] = describeErrors(reported, {
    schema: reported[0]?.root ?? {},
    // The whole body may be a secret that belongs in one of its members.
    showsValue: ([name]) => part !== 'headers' && name !== undefined && name !== 'credentials',
    limit: 1,
  });
  const detail = toErrorDetail(error ?? { segments: [], found: 'another value', expected: 'a valid value' }, part);
  return validationFailed([detail]);
}
