import { Gauge, type Registry } from '../../kernel/metrics.ts';
import type { Catalogue } from '../catalogue.ts';
import { wholeArchive } from '../manifest/findings.ts';

/** How many mistakes kept bundles or plugins from being loaded, and how many installed bundles were changed. */
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
