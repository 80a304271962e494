import { BundleManifest, type LocalisedText, PluginManifest } from '@quartermaster/plugin-kit';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { once } from '../../kernel/concurrency/once.ts';
import { describeErrors } from '../../kernel/validation/describe-errors.ts';
import { sentenceWithoutPath, toErrorDetail } from '../../kernel/validation/validation-error.ts';
import type { FieldPath, Findings } from './findings.ts';
import { languageName } from './languages.ts';

/**
 * Checks what authors write against schemas of our own: the manifests and JSON Schema itself. Their patterns are ours
 * and linear, so the built-in expressions serve. `useDefaults` fills in `method: GET`. Made when something must be
 * checked: most starts find nothing new.
 */
const engine = once(
  () => new Ajv2020({ strict: false, allErrors: true, verbose: true, logger: false, useDefaults: true }),
);
const bundleCheck = once(() => engine().compile<BundleManifest>(BundleManifest));
const pluginCheck = once(() => engine().compile<PluginManifest>(PluginManifest));
const maxErrors = 20;

/** The manifest when its shape is right; undefined and findings otherwise. Adds defaults to `value`. */
export function readBundleManifest(value: unknown, findings: Findings): BundleManifest | undefined {
  const check = bundleCheck();
  if (!check(value)) return report({ schema: BundleManifest, errors: check.errors }, [], findings);
  checkLanguages({ name: value.name, description: value.description }, findings);
  return value;
}

/** As readBundleManifest, for a plugin. */
export function readPluginManifest(value: unknown, findings: Findings): PluginManifest | undefined {
  const check = pluginCheck();
  if (!check(value)) return report({ schema: PluginManifest, errors: check.errors }, [], findings);
  checkLanguages({ name: value.name, description: value.description }, findings);
  return value;
}

/** Whether a value is a JSON Schema 2020-12 by the dialect's own meta-schema. */
export function checkMetaSchema(
  schema: Readonly<Record<string, unknown>>,
  root: FieldPath,
  findings: Findings,
): boolean {
  // `$schema` would choose another meta-schema; it is checked by itself.
  const { $schema: _, ...rest } = schema;
  if (engine().validateSchema(rest) === true) return true;
  report({ schema: {}, errors: engine().errors }, root, findings);
  return false;
}

interface Checked {
  readonly schema: object;
  readonly errors: readonly ErrorObject[] | null | undefined;
}

function report(check: Checked, root: FieldPath, findings: Findings): undefined {
  const options = { schema: check.schema, showsValue: () => true, limit: maxErrors };
  for (const error of describeErrors(check.errors ?? [], options)) {
    findings.add([...root, ...error.segments], sentenceWithoutPath(toErrorDetail(error)));
  }
}

function checkLanguages(texts: Readonly<Record<string, LocalisedText>>, findings: Findings): void {
  for (const [field, text] of Object.entries(texts)) {
    if (typeof text === 'string') continue;
    for (const language of Object.keys(text)) {
      if (languageName.test(language)) continue;
      findings.add([field, language], 'Must be the name of a language, such as en, zh or pt-BR.');
    }
  }
}
