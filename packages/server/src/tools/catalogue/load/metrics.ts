import { Gauge, type Registry, registerGauge } from '../../../platform/metrics.ts';
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
    'Installed bundles that are not served because their files differ from their archive, or because it cannot be read.',
    () => catalogue().failures.filter(({ field }) => field === wholeArchive).length,
  );
  new Gauge({
    name: 'quartermaster_catalogue_info',
    help: 'Always 1. The digest is equal on all nodes that serve the same definitions of plugins.',
    labelNames: ['digest'],
    registers: [registry],
    collect() {
      this.reset();
      this.set({ digest: catalogue().digest() }, 1);
    },
  });
}
