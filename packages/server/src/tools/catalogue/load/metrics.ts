import { Gauge, type Registry } from '../../../platform/metrics.ts';
import type { Catalogue } from '../catalogue.ts';
import { wholeArchive } from '../schema/error-collector.ts';

/** Registers the number of errors that exclude bundles or plugins, and the number of changed installed bundles. */
export function registerCatalogueMetrics(registry: Registry, catalogue: () => Catalogue): void {
  new Gauge({
    name: 'quartermaster_bundle_failures',
    help: 'Errors in bundles at load. Each excludes a bundle or a plugin from the catalogue.',
    registers: [registry],
    collect() {
      this.set(catalogue().failures.length);
    },
  });
  new Gauge({
    name: 'quartermaster_bundles_changed',
    help: 'Installed bundles that are not served because their files differ from their archive.',
    registers: [registry],
    collect() {
      this.set(catalogue().failures.filter(({ field }) => field === wholeArchive).length);
    },
  });
}
