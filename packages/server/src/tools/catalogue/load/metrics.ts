import { type Registry, registerGauge } from '../../../platform/metrics.ts';
import type { Catalogue } from '../catalogue.ts';
import { wholeArchive } from '../schema/error-collector.ts';

/** Registers the number of errors that exclude bundles or plugins, and the number of changed installed bundles. */
export function registerCatalogueMetrics(registry: Registry, catalogue: () => Catalogue): void {
  registerGauge(
    registry,
    'quartermaster_bundle_failures',
    'Errors in bundles at load. Each excludes a bundle or a plugin from the catalogue.',
    () => catalogue().failures.length,
  );
  registerGauge(
    registry,
    'quartermaster_bundles_changed',
    'Installed bundles that are not served because their files differ from their archive.',
    () => catalogue().failures.filter(({ field }) => field === wholeArchive).length,
  );
}
