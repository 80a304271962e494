import { fieldInvalid } from './validation/validation-error.ts';

/** The plugins that a key may run: ids of bundles, and `bundle_id/plugin_id`. Null: every plugin. */
export type KeyTools = ReadonlySet<string> | null;

export function mayRun(tools: KeyTools, bundleId: string, pluginId: string): boolean {
  return tools === null || tools.has(bundleId) || tools.has(`${bundleId}/${pluginId}`);
}

/** Whether a key with these tools may run any plugin of a bundle. */
export function mayUseBundle(tools: KeyTools, bundleId: string): boolean {
  return tools === null || tools.has(bundleId) || [...tools].some((name) => name.startsWith(`${bundleId}/`));
}

/** Returns the first name that is not within `tools`; undefined when all are. */
export function findBeyond(tools: KeyTools, names: readonly string[]): string | undefined {
  return names.find((name) => tools !== null && !tools.has(name) && !tools.has(name.split('/', 1)[0] ?? ''));
}

/**
 * Checks that a name is visible and has no control characters, because terminals and pages show names.
 * @throws REQUEST_VALIDATION_ERROR
 */
export function checkName(name: string, longest: number): void {
  const expected = `1 to ${longest} characters without control characters`;
  if (name.trim() === '' || name.length > longest) {
    throw fieldInvalid('body/name', name.trim() === '' ? 'a blank name' : `${name.length} characters`, expected);
  }
  if (/\p{Cc}/u.test(name) || !name.isWellFormed())
    throw fieldInvalid('body/name', 'a name with a control character', expected);
}
