import type { Bundle, Plugin } from '@quartermaster/contract';

/** A bundle, or one of its plugins. */
export interface CatalogueRow {
  readonly id: string;
  readonly bundle: Bundle;
  readonly plugin: Plugin | null;
}

interface Indexed {
  readonly row: CatalogueRow;
  /** Lower-case text to search; that of a plugin includes that of its bundle. */
  readonly text: string;
}

/** Bundles by name, each followed by its plugins, with their search texts. */
export function indexOf(bundles: readonly Bundle[], plugins: readonly Plugin[]): readonly Indexed[] {
  const byBundle = Map.groupBy(plugins, (plugin) => plugin.bundle_id);
  const sorted = bundles.toSorted((one, other) => one.name.localeCompare(other.name));
  return sorted.flatMap((bundle) => {
    const own = [bundle.bundle_id, bundle.name, bundle.description, bundle.provider].join(' ').toLowerCase();
    const head = { row: { id: bundle.bundle_id, bundle, plugin: null }, text: own };
    const rows = (byBundle.get(bundle.bundle_id) ?? []).map((plugin) => ({
      row: { id: `${bundle.bundle_id}/${plugin.plugin_id}`, bundle, plugin },
      text: `${own} ${plugin.plugin_id} ${plugin.name} ${plugin.description}`.toLowerCase(),
    }));
    return [head, ...rows];
  });
}

/** Rows that contain every word; a bundle also matches through its plugins. */
export function findRows(index: readonly Indexed[], search: string): readonly CatalogueRow[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return index.map(({ row }) => row);
  const found = index.filter(({ text }) => words.every((word) => text.includes(word)));
  const bundles = new Set(found.map(({ row }) => row.bundle.bundle_id));
  const plugins = new Set(found.map(({ row }) => row.id));
  return index
    .filter(({ row }) => (row.plugin === null ? bundles.has(row.id) : plugins.has(row.id)))
    .map(({ row }) => row);
}
