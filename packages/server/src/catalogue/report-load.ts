import { definitionFormats } from '@quartermaster/contract';
import type { Logger } from '../kernel/logger.ts';
import type { BundleFailure, Catalogue, CompiledBundle } from './catalogue.ts';
import { fallbackLanguage } from './languages.ts';

/** One line for each mistake. */
export function logFailure({ file, line, field, message }: BundleFailure, logger: Logger): void {
  logger.error({ file, line, field }, `bundle not loaded: ${file}:${line ?? '-'} ${field}: ${message}`);
}

export interface LoadFacts {
  readonly previous: Catalogue | undefined;
  readonly milliseconds: number;
  readonly logger: Logger;
}

/** Says in the log what is in force now, and what has changed. */
export function reportLoad(catalogue: Catalogue, { previous, milliseconds, logger }: LoadFacts): void {
  const { bundles, failures, kept } = catalogue;
  const plugins = [...bundles.values()].reduce((sum, bundle) => sum + bundle.plugins.size, 0);
  const facts = { bundles: bundles.size, plugins, failures: failures.length, milliseconds };
  if (previous === undefined) {
    logger.info(facts, `catalogue loaded: ${facts.bundles} bundles, ${facts.plugins} plugins`);
  } else {
    logger.info({ ...facts, ...differences(previous.bundles, bundles), kept }, 'catalogue changed');
  }
  if (kept.length > 0) {
    logger.warn({ kept }, `the version before stays in force, since the new one has mistakes: ${kept.join(', ')}`);
  }
  const old = previous?.bundles;
  reportUnsupported(catalogue, { logger, isNew: (bundle) => old?.get(bundle.id) !== bundle });
}

type Bundles = Catalogue['bundles'];

function differences(before: Bundles, after: Bundles) {
  return {
    added: [...after.keys()].filter((id) => !before.has(id)),
    changed: [...after].filter(([id, bundle]) => before.has(id) && before.get(id) !== bundle).map(([id]) => id),
    removed: [...before.keys()].filter((id) => !after.has(id)),
  };
}

/** Says which plugins a provider's format cannot carry as it should: the operator may want to know before a model does. */
function reportUnsupported(
  catalogue: Catalogue,
  { logger, isNew }: { logger: Logger; isNew: (bundle: CompiledBundle) => boolean },
): void {
  const plugins = [...catalogue.bundles.values()].filter(isNew).flatMap((bundle) => [...bundle.plugins.values()]);
  for (const format of definitionFormats) {
    const unsupported = plugins.filter((plugin) =>
      catalogue.definePlugin(plugin, format, fallbackLanguage).losses.some(({ kind }) => kind === 'unsupported'),
    );
    if (unsupported.length === 0) continue;
    const named = unsupported.slice(0, 10).map(({ bundle, id }) => `${bundle.id}/${id}`);
    logger.info({ format, plugins: unsupported.length }, `not wholly expressible as ${format}: ${named.join(', ')}`);
  }
}
