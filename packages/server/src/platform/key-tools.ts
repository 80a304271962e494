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
