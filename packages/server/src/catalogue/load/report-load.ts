import { definitionFormats } from '@quartermaster/contract';
import type { Logger } from '../../kernel/log/logger.ts';
import type { BundleFailure, Catalogue } from '../catalogue.ts';

/** Logs one line for each error. */
export function logFailure({ file, line, field, message }: BundleFailure, logger: Logger): void {
  logger.error({ file, line, field }, `bundle load failed: ${file}:${line ?? '-'} ${field}: ${message}`);
}

export interface LoadFacts {
  readonly previous: Catalogue | undefined;
  readonly durationMs: number;
  /** The number of bundles whose files were read. The others were cached or unchanged. */
  readonly read: number;
  readonly logger: Logger;
}

/** Logs the catalogue in force and what has changed. */
export function reportLoad(catalogue: Catalogue, { previous, durationMs, read, logger }: LoadFacts): void {
  const { bundles, failures, kept, loading } = catalogue;
  const plugins = [...bundles.values()].reduce((sum, bundle) => sum + bundle.plugins.size, 0);
  const counts = { bundles: bundles.size, plugins, failures: failures.length };
  const facts = { ...counts, read, loading: loading.length, duration_ms: durationMs };
  if (previous === undefined) {
    logger.info(facts, `catalogue loaded: ${facts.bundles} bundles, ${facts.plugins} plugins`);
  } else {
    logger.info({ ...facts, ...differences(previous.bundles, bundles), kept }, 'catalogue changed');
  }
  if (kept.length > 0) {
    logger.warn({ kept }, `bundle load failed, previous version kept: ${kept.join(', ')}`);
  }
}

type Bundles = Catalogue['bundles'];

function differences(before: Bundles, after: Bundles) {
  return {
    added: [...after.keys()].filter((id) => !before.has(id)),
    changed: [...after].filter(([id, bundle]) => before.has(id) && before.get(id) !== bundle).map(([id]) => id),
    removed: [...before.keys()].filter((id) => !after.has(id)),
  };
}

/** Logs which new plugins a provider's format cannot represent without losses. */
export function reportUnsupported(
  catalogue: Catalogue,
  { logger, previous }: Pick<LoadFacts, 'logger' | 'previous'>,
): void {
  const bundles = [...catalogue.bundles.values()].filter((bundle) => previous?.bundles.get(bundle.id) !== bundle);
  const plugins = bundles.flatMap((bundle) => [...bundle.plugins.values()]);
  for (const format of definitionFormats) {
    const unsupported = plugins.filter((plugin) => plugin.unsupported.includes(format));
    if (unsupported.length === 0) continue;
    const named = unsupported.slice(0, 10).map(({ bundle, id }) => `${bundle.id}/${id}`);
    logger.info({ format, plugins: unsupported.length }, `provider format incomplete: ${format}: ${named.join(', ')}`);
  }
}
