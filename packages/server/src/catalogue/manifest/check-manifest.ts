import { BundleManifest, type LocalisedText, PluginManifest } from '@quartermaster/plugin-kit';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { once } from '../../kernel/concurrency/once.ts';
import { describeErrors } from '../../kernel/validation/describe-errors.ts';
import { sentenceWithoutPath, toErrorDetail } from '../../kernel/validation/validation-error.ts';
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

/** Returns the manifest when it is valid; otherwise undefined, and adds errors. Adds defaults to `value`. */
export function readBundleManifest(value: unknown, errors: ErrorCollector): BundleManifest | undefined {
  const check = bundleCheck();
  if (!check(value)) return report({ schema: BundleManifest, errors: check.errors }, [], errors);
  checkLanguages({ name: value.name, description: value.description }, errors);
  return value;
}

/** The same for the manifest of a plugin. */
export function readPluginManifest(value: unknown, errors: ErrorCollector): PluginManifest | undefined {
  const check = pluginCheck();
  if (!check(value)) return report({ schema: PluginManifest, errors: check.errors }, [], errors);
  checkLanguages({ name: value.name, description: value.description }, errors);
  return value;
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

function report(check: Checked, root: FieldPath, errors: ErrorCollector): undefined {
  const options = { schema: check.schema, showsValue: () => true, limit: maxErrors };
  for (const error of describeErrors(check.errors ?? [], options)) {
    errors.add([...root, ...error.segments], sentenceWithoutPath(toErrorDetail(error)));
  }
}

function checkLanguages(texts: Readonly<Record<string, LocalisedText>>, errors: ErrorCollector): void {
  for (const [field, text] of Object.entries(texts)) {
    if (typeof text === 'string') continue;
    for (const language of Object.keys(text)) {
      if (languageName.test(language)) continue;
      errors.add([field, language], 'Must be a language tag such as en, zh or pt-BR.');
    }
  }
}
