import type { Bundle, BundleCategory, Plugin } from '@quartermaster/contract';

/** What a bundle needs before its plugins can run, in the order in which the catalogue shows the bundles. */
export const readiness = ['ready', 'needsCredentials', 'unavailable', 'retired'] as const;
export type Readiness = (typeof readiness)[number];

/** @param profiles the ids of the bundles for which the project has a credential profile */
export function readinessOf(bundle: Bundle, profiles: ReadonlySet<string>): Readiness {
  if (bundle.retired !== null) return 'retired';
  if (bundle.unavailable !== null) return 'unavailable';
  const { required, anyOf } = bundle.credentials_schema;
  // Alternatives are in `anyOf`.
  const needed = Array.isArray(anyOf) ? anyOf.map((one) => Object(one).required) : [required];
  const needsNone = needed.some((names) => !Array.isArray(names) || names.length === 0);
  return needsNone || profiles.has(bundle.bundle_id) ? 'ready' : 'needsCredentials';
}

/** A bundle, or one of its plugins. */
export interface CatalogueRow {
  readonly id: string;
  readonly bundle: Bundle;
  readonly plugin: Plugin | null;
  readonly readiness: Readiness;
}

interface Indexed {
  readonly row: CatalogueRow;
  /** Lower-case text to search; that of a plugin includes that of its bundle. */
  readonly text: string;
}

/** Bundles by readiness and name, each followed by its plugins, with their search texts. */
export function indexOf(
  bundles: readonly Bundle[],
  plugins: readonly Plugin[],
  profiles: ReadonlySet<string>,
): readonly Indexed[] {
  const byBundle = Map.groupBy(plugins, (plugin) => plugin.bundle_id);
  const rated = bundles.map((bundle) => ({ bundle, ready: readinessOf(bundle, profiles) }));
  const sorted = rated.toSorted(
    (one, other) =>
      readiness.indexOf(one.ready) - readiness.indexOf(other.ready) || one.bundle.name.localeCompare(other.bundle.name),
  );
  return sorted.flatMap(({ bundle, ready }) => {
    const own = [bundle.bundle_id, bundle.name, bundle.description, bundle.provider].join(' ').toLowerCase();
    const head = { row: { id: bundle.bundle_id, bundle, plugin: null, readiness: ready }, text: own };
    const rows = (byBundle.get(bundle.bundle_id) ?? []).map((plugin) => ({
      row: { id: `${bundle.bundle_id}/${plugin.plugin_id}`, bundle, plugin, readiness: ready },
      text: `${own} ${plugin.plugin_id} ${plugin.name} ${plugin.description}`.toLowerCase(),
    }));
    return [head, ...rows];
  });
}

/** Rows of the category that contain every word; null for all categories. A bundle also matches through its plugins. */
export function findRows(
  rows: readonly Indexed[],
  search: string,
  category: BundleCategory | null = null,
): readonly CatalogueRow[] {
  const index = rows.filter(({ row }) => category === null || row.bundle.categories.includes(category));
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return index.map(({ row }) => row);
  const found = index.filter(({ text }) => words.every((word) => text.includes(word)));
  const bundles = new Set(found.map(({ row }) => row.bundle.bundle_id));
  const plugins = new Set(found.map(({ row }) => row.id));
  return index
    .filter(({ row }) => (row.plugin === null ? bundles.has(row.id) : plugins.has(row.id)))
    .map(({ row }) => row);
}
