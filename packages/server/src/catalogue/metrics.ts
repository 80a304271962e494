import { Gauge, type Registry } from '../kernel/metrics.ts';
import type { Catalogue } from './catalogue.ts';

/** `quartermaster_bundle_failures`: how many mistakes kept bundles or plugins from being loaded. */
export function registerCatalogueMetrics(registry: Registry, catalogue: () => Catalogue): void {
  new Gauge({
    name: 'quartermaster_bundle_failures',
    help: 'Mistakes found in bundles at load; each keeps a bundle or a plugin out of the catalogue.',
    registers: [registry],
    collect() {
      this.set(catalogue().failures.length);
    },
  });
}
