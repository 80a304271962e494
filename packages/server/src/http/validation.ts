import { Ajv, type ValidateFunction } from 'ajv';
import type { FastifySchemaCompiler } from 'fastify';
import type { FastifyValidationResult } from 'fastify/types/schema.js';
import { isJsonObject } from '../kernel/json/json-object.ts';
import { Problem } from '../kernel/problem.ts';
import { replaceLengthKeywords } from './length-keywords.ts';
import { type Finding, tellingFinding } from './telling-finding.ts';

const common = { allErrors: false, useDefaults: true, removeAdditional: false, verbose: true, strict: false } as const;
const bodies = replaceLengthKeywords(new Ajv({ ...common, coerceTypes: false }));
const texts = replaceLengthKeywords(new Ajv({ ...common, coerceTypes: true }));
const made = new WeakMap<object, FastifyValidationResult>();

/**
 * Compiles a schema once, when the first request needs it: a start would spend a tenth of its time on schemas that may
 * never be used. A JSON body is taken as it is; query, path and headers are texts and become numbers.
 */
export const compileValidator: FastifySchemaCompiler<object> = ({ schema, httpPart }) => validatorOf(schema, httpPart);

function validatorOf(schema: object, httpPart: string | undefined): FastifyValidationResult {
  let validate = made.get(schema);
  if (validate === undefined) {
    const isBody = httpPart === 'body';
    validate = atFirstUse(schema, () => (isBody ? bodies : texts).compile(schema));
    if (!isBody) validate = afterNumbers(schema as TextSchema, validate);
    made.set(schema, validate);
  }
  return validate;
}

function atFirstUse(schema: object, compile: () => ValidateFunction): FastifyValidationResult {
  let compiled: ValidateFunction | undefined;
  const validate: FastifyValidationResult = (data: unknown) => {
    compiled ??= compile();
    const isValid = compiled(data);
    validate.errors = compiled.errors?.map((error) => ({ ...error, isSecret: isSecretAt(schema, error) })) ?? null;
    return isValid;
  };
  return validate;
}

/** Whether the schema that a value breaks, or one around it, is marked with `x-secret`. */
function isSecretAt(schema: object, { schemaPath }: { readonly schemaPath: string }): boolean {
  let at: unknown = schema;
  for (const step of schemaPath.split('/').slice(1)) {
    if (!isJsonObject(at) && !Array.isArray(at)) return false;
    if ('x-secret' in at && at['x-secret'] === true) return true;
    // The steps are those of AJV, escaped as in a JSON pointer inside of a URL.
    at = Reflect.get(at, decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'));
  }
  return false;
}

/** Of a query, path or headers. */
interface TextSchema {
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>;
}

/** AJV accepts every text that JavaScript converts to a number, such as `0x10`. Only decimal digits are allowed here. */
function afterNumbers({ properties = {} }: TextSchema, validate: FastifyValidationResult): FastifyValidationResult {
  const numbers = Object.entries(properties).filter(([, { type }]) => type === 'integer' || type === 'number');
  if (numbers.length === 0) return validate;
  const checked: FastifyValidationResult = (data: unknown) => {
    const given = data as Readonly<Record<string, unknown>>; // an object: what Fastify parsed
    for (const [name, { type }] of numbers) {
      const value = given[name];
      if (typeof value !== 'string' || /^-?\d+$/.test(value)) continue;
      const error = { keyword: 'type', instancePath: `/${name}`, schemaPath: '', params: { type }, data: value };
      checked.errors = [error as Finding];
      return false;
    }
    const isValid = validate(data);
    checked.errors = validate.errors ?? null;
    return isValid;
  };
  return checked;
}

/** `body/purpose: found "x"; expected one of "record_file", "qa_record_file".` */
export function validationProblem(findings: readonly Finding[], part = 'body'): Problem {
  // The validators stop at the first mistake: what comes before it are forms of a union that were tried.
  const last = findings.at(-1);
  const sentence =
    last === undefined
      ? { path: part, found: 'something else', expected: 'a valid value' }
      : describe(tellingFinding(last, checkAgain), part);
  const { path, found, expected } = sentence;
  return new Problem('REQUEST_VALIDATION_ERROR', `${path}: found ${found}; expected ${expected}.`, {
    details: [sentence],
  });
}

/** Only when a request is refused; a schema is compiled for that once. */
function checkAgain(schema: object, value: unknown): readonly Finding[] {
  const validate = validatorOf(schema, 'body');
  // Ours answers with true or false, and leaves what it found.
  return validate(value) === true ? [] : ((validate.errors ?? []) as Finding[]);
}

function describe(finding: Finding, part: string) {
  const missing = finding.keyword === 'required' ? `/${String(finding.params.missingProperty)}` : '';
  const path = `${part}${finding.instancePath}${missing}`;
  return { path, found: missing === '' ? found(finding, path) : 'nothing', expected: expected(finding) };
}

/** The value when it is short and harmless, otherwise its type. What the schema marks with `x-secret` is never repeated. */
function found({ data: value, isSecret, keyword }: Finding, path: string): string {
  if (value === null) return 'null';
  if (keyword === 'maxProperties') return `${Object.keys(Object(value)).length} members`;
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  // The whole body may be a secret that belongs into one of its members.
  if (isSecret === true || path === 'body' || path.startsWith('headers')) return `a ${typeof value}`;
  // A long text is not written as JSON: that visits each of its characters.
  const text = typeof value === 'string' && value.length > 80 ? value : (JSON.stringify(value) ?? 'nothing');
  return text.length <= 80 ? text : `a ${typeof value} of ${String(value).length} characters`;
}

function expected(finding: Finding): string {
  const { params, keyword } = finding;
  switch (keyword) {
    case 'required':
      return 'this field';
    case 'type':
      return `type ${String(params.type)}`;
    case 'enum':
      return `one of ${JSON.stringify(params.allowedValues).slice(1, -1).replaceAll(',', ', ')}`;
    case 'const':
      return JSON.stringify(params.allowedValue);
    case 'minLength':
    case 'maxLength':
      return `${keyword === 'minLength' ? 'at least' : 'at most'} ${params.limit === 1 ? 'one character' : `${String(params.limit)} characters`}`;
    case 'minItems':
    case 'maxItems':
      return `${keyword === 'minItems' ? 'at least' : 'at most'} ${params.limit === 1 ? 'one item' : `${String(params.limit)} items`}`;
    case 'maxProperties':
      return `at most ${String(params.limit)} members`;
    case 'minimum':
    case 'maximum':
      return `a value ${String(params.comparison)} ${String(params.limit)}`;
    default:
      return `a value that ${finding.message ?? 'is valid'}`;
  }
}
