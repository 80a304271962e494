import { BundleManifest, type LocalisedText, PluginManifest } from '@quartermaster/plugin-kit';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { once } from '../../../platform/concurrency/once.ts';
import { isJsonObject } from '../../../platform/json/json-object.ts';
import { describeErrors } from '../../../platform/validation/describe-errors.ts';
import { didYouMean } from '../../../platform/validation/field-errors.ts';
import {
  pointerSegments,
  quote,
  sentenceWithoutPath,
  toErrorDetail,
  unknownParameter,
  type ValidationError,
} from '../../../platform/validation/validation-error.ts';
import type { ErrorCollector, FieldPath } from './error-collector.ts';
import { languageName } from './languages.ts';

/**
 * Validates manifests and JSON Schemas with the schemas of the product. Their patterns are trusted and linear, so the built-in
 * regular expressions are safe. `useDefaults` fills in `method: GET`. Created on demand, because most starts find every bundle in
 * the cache.
 */
const engine = once(
  () => new Ajv2020({ strict: false, allErrors: true, verbose: true, logger: false, useDefaults: true }),
);
const bundleCheck = once(() => engine().compile<BundleManifest>(BundleManifest));
const pluginCheck = once(() => engine().compile<PluginManifest>(PluginManifest));
const maxErrors = 20;

export interface CheckedManifest<Manifest> {
  /** Undefined when the schema is violated. */
  readonly manifest: Manifest | undefined;
  /** The members that are valid by themselves, so that further checks can find all errors of a file. */
  readonly members: Partial<Manifest>;
}

/** Checks a value against the schema of `bundle.yaml`, and adds errors. Adds defaults to `value`. */
export function checkBundleManifest(value: unknown, errors: ErrorCollector): CheckedManifest<BundleManifest> {
  return checkManifest(bundleCheck(), { schema: BundleManifest, value }, errors);
}

/** The same for the manifest of a plugin. */
export function checkPluginManifest(value: unknown, errors: ErrorCollector): CheckedManifest<PluginManifest> {
  return checkManifest(pluginCheck(), { schema: PluginManifest, value }, errors);
}

interface Texts {
  readonly name: LocalisedText;
  readonly description: LocalisedText;
}

function checkManifest<Manifest extends Texts>(
  check: ValidateFunction<Manifest>,
  { schema, value }: { readonly schema: { readonly properties: object }; readonly value: unknown },
  errors: ErrorCollector,
): CheckedManifest<Manifest> {
  const manifest = check(value) ? value : undefined;
  if (manifest === undefined) report({ schema, errors: check.errors }, [], errors);
  const members = manifest ?? (validMembers(value, schema, check.errors ?? []) as Partial<Manifest>); // each is valid
  checkLanguages({ name: members.name, description: members.description }, errors);
  return { manifest, members };
}

/** Returns the declared members that no error is about. */
function validMembers(value: unknown, schema: { readonly properties: object }, errors: readonly ErrorObject[]): object {
  if (!isJsonObject(value)) return {};
  const wrong = new Set(errors.map(({ instancePath }) => pointerSegments(instancePath)[0]));
  const isValid = (name: string) => Object.hasOwn(schema.properties, name) && !wrong.has(name);
  return Object.fromEntries(Object.entries(value).filter(([name]) => isValid(name)));
}

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

function report(check: Checked, root: FieldPath, errors: ErrorCollector): void {
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

function checkLanguages(texts: Readonly<Record<string, LocalisedText | undefined>>, errors: ErrorCollector): void {
  for (const [field, text] of Object.entries(texts)) {
    if (text === undefined || typeof text === 'string') continue;
    for (const language of Object.keys(text)) {
      if (languageName.test(language)) continue;
      errors.add([field, language], 'Must be a language tag such as en, zh or pt-BR.');
    }
  }
}
