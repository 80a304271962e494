import { BundleManifest, type LocalisedText, PluginManifest } from '@quartermaster/plugin-kit';
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { once } from '../../../platform/concurrency/once.ts';
import { isJsonObject } from '../../../platform/json/json-object.ts';
import { pointerSegments } from '../../../platform/validation/validation-error.ts';
import type { ErrorCollector } from '../schema/error-collector.ts';
import { engine, report } from '../schema/manifest-engine.ts';
import { languageName } from './languages.ts';

const bundleCheck = once(() => engine().compile<BundleManifest>(BundleManifest));
const pluginCheck = once(() => engine().compile<PluginManifest>(PluginManifest));

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

function checkLanguages(texts: Readonly<Record<string, LocalisedText | undefined>>, errors: ErrorCollector): void {
  for (const [field, text] of Object.entries(texts)) {
    if (text === undefined || typeof text === 'string') continue;
    for (const language of Object.keys(text)) {
      if (languageName.test(language)) continue;
      errors.add([field, language], 'Must be a language tag such as en, zh or pt-BR.');
    }
  }
}
