import type { OperatorHosts } from './catalogue/bundle-hosts.ts';
import type { Catalogue } from './catalogue/catalogue.ts';
import { loadCatalogue } from './catalogue/load-catalogue.ts';
import { createLogger } from './kernel/logger.ts';

/** The catalogue of one folder of bundles. */
export function loadFolder(folder: string, operatorHosts: OperatorHosts = new Map()): Promise<Catalogue> {
  return loadCatalogue({
    folders: [folder],
    operatorHosts,
    capabilities: { handlers: 'process' },
    publicUrl: 'http://127.0.0.1:8081',
    logger: createLogger('silent'),
  });
}
