import type { ErrorDetail } from '@quartermaster/contract';
import { Ajv2020, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import { once } from '../../../platform/concurrency/once.ts';
import { convertBigInts } from '../../../platform/json/exact-json.ts';
import { describeErrors } from '../../../platform/validation/describe-errors.ts';
import { replaceLengthKeywords } from '../../../platform/validation/length-keywords.ts';
import { toErrorDetail, type ValidationError } from '../../../platform/validation/validation-error.ts';
import type { Check, CompiledPlugin } from '../catalogue.ts';
import { exemptReferences, readFileReference, referenceFormat } from '../file-references.ts';
import { compileBoundedRegExp } from './bounded-patterns.ts';
import { type CheckBudget, CheckTooLarge, createCheckBudget } from './check-budget.ts';
import { replaceComparingKeywords } from './comparing-keywords.ts';
import { copyJson, type ExactInteger } from './copy-json.ts';
import { createExactIntegers, type ExactIntegers, replaceNumberKeywords } from './exact-integers.ts';
import { addLinearFormats } from './formats.ts';
import { withoutRemarks } from './subschemas.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;
export type ReadInput = CompiledPlugin['readInput'];

/** Compiles the schemas of plugins. Each is compiled at first use, so that thousands of plugins load quickly. */
export interface SchemaCompiler {
  /**
   * Adds defaults to a copy; coerces nothing. A reference to a stored file is valid where the schema describes file content: the
   * service puts the file in after the check, so no pattern reads the content.
   */
  compileInput(schema: GetSchema): ReadInput;
  compileOutput(schema: GetSchema): Check;
  /** Its messages quote no values. */
  compileCredentials(schema: GetSchema): Check;
}

/** Called at the first validation; the schema need not be in memory before. */
type GetSchema = () => JsonSchema;

const maxViolations = 20;
/** In values with more nodes only the first error is reported, because finding all is expensive. */
const maxNodesForAllErrors = 2_000;

const baseOptions = {
  strict: false,
  logger: false,
  verbose: true,
  // Names of Object.prototype are not members of the data.
  ownProperties: true,
  // Inlining would multiply the code of shared schemas.
  inlineRefs: false,
  // check-schema.ts has validated the schema at load.
  validateSchema: false,
  code: {
    // Optimising takes as long as generating the code, and both block the event loop.
    optimize: false,
  },
} satisfies Options;

/** Creates the compiler of one catalogue. Its engines cache the compiled schemas and are freed with it. */
export function createSchemaCompiler(): SchemaCompiler {
  const withDefaults = createEngines({ useDefaults: true });
  const plain = createEngines({});
  return {
    compileInput: (schema) => createReadInput(withDefaults(() => exemptReferences(schema()))),
    compileOutput: (schema) => createCheck(plain(schema), { showValues: true }),
    compileCredentials: (schema) => createCheck(plain(schema), { showValues: false }),
  };
}

interface ValidateOptions {
  readonly all: boolean;
  readonly showValues: boolean;
  /** The value with its integers beyond 2^53, if it has any. */
  readonly original: unknown;
}

/** Validates a value and reports either all validation errors or only the first. */
type Validate = (value: unknown, options: ValidateOptions) => ValidationError[];

/**
 * Uses two engines: stopping at the first error bounds the work on hostile data, and listing all errors helps people. Values with
 * integers beyond 2^53 have two of their own, so that the others compare doubles without a call. */
function createEngines(options: Options): (schema: GetSchema) => Validate {
  const budget = createCheckBudget();
  const exact = createExactIntegers();
  const pairOf = (integers?: ExactIntegers) => ({
    first: once(() => createEngine({ ...options, allErrors: false }, budget, integers)),
    all: once(() => createEngine({ ...options, allErrors: true }, budget, integers)),
  });
  const engines = { usual: pairOf(), exact: pairOf(exact) };
  const passes = (validate: ValidateFunction, value: unknown) => {
    budget.reset();
    // Synchronous, because `$async` is refused at load.
    return validate(value) === true;
  };
  let count = 0;
  return (wanted) => {
    // A unique `$id` prevents references of one schema from resolving in another.
    const $id = `schema:${++count}`;
    const schema = once(() => ({ ...withoutRemarks(wanted()), $id }));
    const compiled = ({ first, all }: ReturnType<typeof pairOf>) => ({
      first: once(() => first().compile(schema())),
      all: once(() => all().compile(schema())),
    });
    const validators = { usual: compiled(engines.usual), exact: compiled(engines.exact) };
    return (value, asked) => {
      if (asked.original !== undefined) exact.reset(asked.original, value);
      const { first, all } = asked.original === undefined ? validators.usual : validators.exact;
      if (passes(first(), value)) return [];
      const validate = asked.all ? all() : first();
      if (asked.all) passes(validate, value);
      const described = { schema: schema(), showsValue: () => asked.showValues, limit: maxViolations };
      return describeErrors(validate.errors ?? [], described);
    };
  };
}

function createEngine(options: Options, budget: CheckBudget, exact?: ExactIntegers): Ajv2020 {
  const regExp = Object.assign((pattern: string) => compileBoundedRegExp(pattern, budget), {
    code: 'compileBoundedRegExp',
  });
  const engine = new Ajv2020({ ...baseOptions, ...options, code: { ...baseOptions.code, regExp } });
  addLinearFormats(engine, budget);
  engine.addFormat(referenceFormat, (text) => readFileReference(text) !== undefined);
  replaceComparingKeywords(engine, budget, exact);
  if (exact !== undefined) replaceNumberKeywords(engine, exact);
  replaceLengthKeywords(engine);
  return engine;
}

function createReadInput(validate: Validate): ReadInput {
  return (value) => {
    const copied = copyJson(value);
    if ('refusal' in copied) return { input: {}, violations: toErrorDetails([copied.refusal]) };
    const all = copied.nodes <= maxNodesForAllErrors;
    const original = copied.exact.length > 0 ? value : undefined;
    const find = (input: unknown) => guarded(input, () => validate(input, { all, showValues: true, original }));
    const errors = find(copied.copy);
    const input = copied.copy;
    const checked = (violations: ErrorDetail[]) => ({ input: withExactIntegers(input, copied.exact), violations });
    // With strict function calling, null is the only way to leave out a parameter.
    if (errors.length > 0 && dropNulls(input, errors, find)) return checked([]);
    return checked(toErrorDetails(errors));
  };
}

/** Puts integers beyond 2^53 back. The check saw the nearest numbers, and removed no items of arrays. */
function withExactIntegers<T extends object>(input: T, integers: readonly ExactInteger[]): T {
  for (const { segments, value } of integers) {
    let holder: unknown = input;
    for (const segment of segments.slice(0, -1)) holder = Reflect.get(Object(holder), segment);
    Reflect.set(Object(holder), segments.at(-1) ?? '', value);
  }
  return input;
}

/** The maximum number of attempts. Each removes every null that an error names. */
const maxNullRounds = 5;

/** Removes members that are null where their schema does not allow null. Changes `input`. @returns whether the result is valid */
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
  const check = (value: unknown, original: unknown) =>
    validate(value, { all: hasFewNodes(value), showValues, original: value === original ? undefined : original });
  return (value) => toErrorDetails(guarded(value, () => check(convertBigInts(value, Number), value)));
}

const tooDeep: ValidationError = {
  segments: [],
  found: 'a value nested too deeply to be checked',
  expected: 'nested less deeply',
};

/**
 * Reports an exhausted stack as an error of the value, because recursive schemas follow the data's depth; so is a value that exceeds
 * what a check may read.
 */
function guarded(value: unknown, find: () => ValidationError[]): ValidationError[] {
  try {
    return find();
  } catch (error) {
    if (error instanceof CheckTooLarge) return [describeTooLarge(value, error)];
    if (error instanceof RangeError) return [tooDeep];
    throw error;
  }
}

function describeTooLarge(value: unknown, { text, expected }: CheckTooLarge): ValidationError {
  if (text === null) return { segments: [], found: 'more', expected };
  return { segments: findText(value, text) ?? [], found: `${text.length} characters`, expected };
}

/** Finds the place of a text, or of the object that has it as a name. The copy of the value bounded its depth. */
function findText(value: unknown, text: string): string[] | undefined {
  if (value === text) return [];
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    if (name === text) return [];
    const found = findText(member, text);
    if (found !== undefined) return [name, ...found];
  }
  return undefined;
}

function hasFewNodes(value: unknown): boolean {
  return 'copy' in copyJson(value, { maxDepth: 64, maxNodes: maxNodesForAllErrors });
}

function toErrorDetails(errors: readonly ValidationError[]): ErrorDetail[] {
  return errors.map((error) => toErrorDetail(error));
}
