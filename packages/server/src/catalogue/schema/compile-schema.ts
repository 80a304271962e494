import type { ErrorDetail } from '@quartermaster/contract';
import { Ajv2020, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import { once } from '../../kernel/concurrency/once.ts';
import { describeErrors } from '../../kernel/validation/describe-errors.ts';
import { toErrorDetail, type ValidationError } from '../../kernel/validation/validation-error.ts';
import type { Check, CompiledPlugin } from '../catalogue.ts';
import { replaceComparingKeywords } from './comparing-keywords.ts';
import { copyJson } from './copy-json.ts';
import { addLinearFormats } from './formats.ts';
import { compileLinearRegExp } from './linear-regexp.ts';
import { withoutRemarks } from './subschemas.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;
export type ReadInput = CompiledPlugin['readInput'];

/** Compiles the schemas of plugins. Each is compiled when it is first used: a catalogue of thousands loads at once. */
export interface SchemaCompiler {
  /** Adds defaults to a copy, coerces nothing. */
  compileInput(schema: GetSchema): ReadInput;
  compileOutput(schema: GetSchema): Check;
  /** No message repeats a value. */
  compileCredentials(schema: GetSchema): Check;
}

/** Called when a value is first checked: until then a schema need not be in memory. */
type GetSchema = () => JsonSchema;

const maxViolations = 20;
/** Listing every error of a large value costs more than it helps: then only the first is reported. */
const maxNodesForAllErrors = 2_000;

const baseOptions = {
  strict: false,
  logger: false,
  verbose: true,
  // A name of Object.prototype is no member of the data.
  ownProperties: true,
  // Inlining multiplies the code of a schema that many places refer to.
  inlineRefs: false,
  // Checked at load, by check-schema.ts.
  validateSchema: false,
  code: {
    // Optimising the code takes as long as generating it, and both block the event loop.
    optimize: false,
    regExp: Object.assign((pattern: string) => compileLinearRegExp(pattern), { code: 'compileLinearRegExp' }),
  },
} satisfies Options;

/** One compiler a catalogue: its engines keep what they compiled, and go with it. */
export function createSchemaCompiler(): SchemaCompiler {
  const withDefaults = createEngines({ useDefaults: true });
  const plain = createEngines({});
  return {
    compileInput: (schema) => createReadInput(withDefaults(schema)),
    compileOutput: (schema) => createCheck(plain(schema), { showValues: true }),
    compileCredentials: (schema) => createCheck(plain(schema), { showValues: false }),
  };
}

/** Validates a value: reports every validation error, or the first only. */
type Validate = (value: unknown, options: { all: boolean; showValues: boolean }) => ValidationError[];

/** Two engines: stopping at the first error is what bounds the work on hostile data, listing all is what helps people. */
function createEngines(options: Options): (schema: GetSchema) => Validate {
  const first = once(() => createEngine({ ...options, allErrors: false }));
  const all = once(() => createEngine({ ...options, allErrors: true }));
  let count = 0;
  return (wanted) => {
    // An address of its own keeps the references of one schema from being looked up in another.
    const $id = `schema:${++count}`;
    const schema = once(() => ({ ...withoutRemarks(wanted()), $id }));
    const validateFirst = once(() => first().compile(schema()));
    const validateAll = once(() => all().compile(schema()));
    return (value, asked) => {
      if (passes(validateFirst(), value)) return [];
      const validate = asked.all ? validateAll() : validateFirst();
      if (asked.all) passes(validate, value);
      const described = { schema: schema(), showsValue: () => asked.showValues, limit: maxViolations };
      return describeErrors(validate.errors ?? [], described);
    };
  };
}

function createEngine(options: Options): Ajv2020 {
  const engine = new Ajv2020({ ...baseOptions, ...options });
  addLinearFormats(engine);
  replaceComparingKeywords(engine);
  return engine;
}

function passes(validate: ValidateFunction, value: unknown): boolean {
  // The schemas are synchronous: `$async` is refused at load.
  return validate(value) === true;
}

function createReadInput(validate: Validate): ReadInput {
  return (value) => {
    const copied = copyJson(value);
    if ('refusal' in copied) return { input: {}, violations: toErrorDetails([copied.refusal]) };
    const all = copied.nodes <= maxNodesForAllErrors;
    const find = (input: unknown) => guarded(() => validate(input, { all, showValues: true }));
    const errors = find(copied.copy);
    const input = copied.copy;
    // Strict function calling has no other way to leave out a parameter than null.
    if (errors.length > 0 && dropNulls(input, errors, find)) return { input, violations: [] };
    return { input, violations: toErrorDetails(errors) };
  };
}

/** More rounds than this are not worth it: each one removes every null that an error names. */
const maxNullRounds = 5;

/** Takes out the members that are null where their schema knows no null; whether all is right then. Changes `input`. */
function dropNulls(
  input: unknown,
  errors: readonly ValidationError[],
  find: (input: unknown) => ValidationError[],
): boolean {
  let found = errors;
  for (let round = 0; round < maxNullRounds; round += 1) {
    const dropped = found.filter(({ segments }) => dropNull(input, segments));
    if (dropped.length === 0) return false;
    found = find(input);
    if (found.length === 0) return true;
  }
  return false;
}

function dropNull(input: unknown, segments: readonly string[]): boolean {
  const name = segments.at(-1);
  let holder: unknown = input;
  for (const segment of segments.slice(0, -1)) holder = Reflect.get(Object(holder), segment);
  if (name === undefined || typeof holder !== 'object' || holder === null || Array.isArray(holder)) return false;
  return Reflect.get(holder, name) === null && Reflect.deleteProperty(holder, name);
}

function createCheck(validate: Validate, { showValues }: { showValues: boolean }): Check {
  return (value) => toErrorDetails(guarded(() => validate(value, { all: hasFewNodes(value), showValues })));
}

const tooDeep: ValidationError = {
  segments: [],
  found: 'a value nested too deeply to be checked',
  expected: 'nested less deeply',
};

/** A recursive schema follows the data down; what is too deep for the stack is told as such. */
function guarded(find: () => ValidationError[]): ValidationError[] {
  try {
    return find();
  } catch (error) {
    if (error instanceof RangeError) return [tooDeep];
    throw error;
  }
}

function hasFewNodes(value: unknown): boolean {
  return 'copy' in copyJson(value, { maxDepth: 64, maxNodes: maxNodesForAllErrors });
}

function toErrorDetails(errors: readonly ValidationError[]): ErrorDetail[] {
  return errors.map((error) => toErrorDetail(error));
}
