import { basename, dirname, join } from 'node:path';
import { exists } from '../../platform/disk/exists.ts';
import { createLogger } from '../../platform/log/logger.ts';
import type { CompiledBundle } from '../catalogue/catalogue.ts';
import { loadCatalogue } from '../catalogue/load/load-catalogue.ts';
import { bundleInvalid, idTaken } from '../packaging/problems.ts';

/**
 * Loads the bundle of a folder as the service does.
 * @param roots the folders of bundles that were not installed
 * @throws PackagingError for errors, and for an id that another bundle has
 */
export async function loadBundle(folder: string, roots: readonly string[]): Promise<CompiledBundle> {
  const id = basename(folder);
  for (const root of roots) if (await exists(join(root, id, 'bundle.yaml'))) throw idTaken(id, root);
  const { failures, findBundle } = await loadCatalogue({
    folders: [dirname(folder)],
    operatorHosts: new Map(),
    capabilities: { handlers: 'sandbox' },
    publicUrl: '',
    logger: createLogger('silent'),
  });
  const bundle = findBundle(id);
  const errors = failures.map(({ file, field, message }) => `${file} ${field}: ${message}`);
  if (bundle === undefined || errors.length > 0) throw bundleInvalid(errors.slice(0, 10), 'installed');
  return bundle;
}
