import { memoize } from '../../platform/memoize.ts';
import { didYouMean } from '../../platform/validation/field-errors.ts';
import { type Catalogue, type CompiledBundle, type CompiledPlugin, isRetired } from './catalogue.ts';
import { bundleRetired, toolNameAmbiguous, toolNamesLoading, toolNameUnknown } from './problems.ts';
import { shortToolName, toolName } from './provider-formats/tool-name.ts';

type Named = Pick<Catalogue, 'bundles' | 'loading'>;
type PluginsByName = ReadonlyMap<string, readonly CompiledPlugin[]>;

/**
 * Finds the plugin of a tool that a model called. The name is the one in a list of tools, in every format: `bundle__plugin`, cut
 * where it is long. `bundle_id/plugin_id` is accepted too, and the id alone, as `/mcp/{bundle_id}` lists it, where one plugin has it.
 * @param bundleId the only bundle to look in; undefined for all
 * @throws Problem when no plugin or more than one has the name
 */
export function getPluginOfTool(catalogue: Named, name: string, bundleId?: string): CompiledPlugin {
  const names = namesOf(catalogue);
  const isOwn = ({ bundle }: CompiledPlugin) => bundleId === undefined || bundle.id === bundleId;
  const [plugin, ...others] = (names.get(name) ?? []).filter(isOwn);
  if (plugin === undefined) {
    if (catalogue.loading.length > 0) throw toolNamesLoading(name);
    const retired = [...catalogue.bundles.values()].find(
      (bundle) => isRetired(bundle) && namesBundle(bundle, name, bundleId),
    );
    if (retired !== undefined) throw bundleRetired(retired);
    const candidates = [...names].filter(([, plugins]) => plugins.some(isOwn)).map(([candidate]) => candidate);
    throw toolNameUnknown(name, didYouMean(name, candidates));
  }
  if (others.length > 0) throw toolNameAmbiguous(name, [plugin, ...others].map(unambiguousName));
  return plugin;
}

function namesBundle({ id }: CompiledBundle, name: string, bundleId: string | undefined): boolean {
  return bundleId === id || (bundleId === undefined && [`${id}__`, `${id}/`].some((start) => name.startsWith(start)));
}

function unambiguousName({ bundle, id }: CompiledPlugin): string {
  return toolName(bundle.id, id);
}

/** The names of one catalogue. They are collected at the first request, because most callers send ids. */
const namesOf = memoize(({ bundles }: Named): PluginsByName => {
  const names = new Map<string, CompiledPlugin[]>();
  for (const { id: bundleId, plugins } of bundles.values()) {
    for (const plugin of plugins.values()) {
      const own = new Set([
        toolName(bundleId, plugin.id),
        `${bundleId}/${plugin.id}`,
        shortToolName(plugin.id),
        plugin.id,
      ]);
      for (const name of own) {
        const found = names.get(name);
        if (found === undefined) names.set(name, [plugin]);
        else found.push(plugin);
      }
    }
  }
  return names;
});
