import { createLogger } from '../../../platform/log/logger.ts';
import type { Catalogue } from '../catalogue.ts';
import type { OperatorHosts } from '../manifest/bundle-hosts.ts';
import { loadCatalogue } from './load-catalogue.ts';

/** Loads the catalogue of one folder of bundles. */
export function loadFolder(folder: string, operatorHosts: OperatorHosts = new Map()): Promise<Catalogue> {
  return loadCatalogue({
    folders: [folder],
    operatorHosts,
    capabilities: { handlers: 'process' },
    publicUrl: 'http://127.0.0.1:8081',
    logger: createLogger('silent'),
  });
}
