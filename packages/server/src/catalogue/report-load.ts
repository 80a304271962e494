import { setTimeout as pause } from 'node:timers/promises';
import { definitionFormats } from '@quartermaster/contract';
import type { Logger } from '../kernel/logger.ts';
import type { BundleFailure, Catalogue, CompiledPlugin } from './catalogue.ts';
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
}

type Bundles = Catalogue['bundles'];

function differences(before: Bundles, after: Bundles) {
  return {
    added: [...after.keys()].filter((id) => !before.has(id)),
    changed: [...after].filter(([id, bundle]) => before.has(id) && before.get(id) !== bundle).map(([id]) => id),
    removed: [...before.keys()].filter((id) => !after.has(id)),
  };
}

export interface UnsupportedReport {
  readonly logger: Logger;
  /** Only the bundles that are not in it are reported. */
  readonly previous: Catalogue | undefined;
}

/**
 * Says which plugins a provider's format cannot carry as it should: the operator may want to know before a model does.
 * Nobody waits for it, so it takes its time between requests.
 */
export async function reportUnsupported(
  catalogue: Catalogue,
  { logger, previous }: UnsupportedReport,
  signal: AbortSignal,
): Promise<void> {
  const bundles = [...catalogue.bundles.values()].filter((bundle) => previous?.bundles.get(bundle.id) !== bundle);
  const plugins = bundles.flatMap((bundle) => [...bundle.plugins.values()]);
  for (const format of definitionFormats) {
    const unsupported: CompiledPlugin[] = [];
    for (const plugin of plugins) {
      await pause(pauseMs, undefined, { signal, ref: false });
      const { losses } = catalogue.definePlugin(plugin, format, fallbackLanguage);
      if (losses.some(({ kind }) => kind === 'unsupported')) unsupported.push(plugin);
    }
    if (unsupported.length === 0) continue;
    const named = unsupported.slice(0, 10).map(({ bundle, id }) => `${bundle.id}/${id}`);
    logger.info({ format, plugins: unsupported.length }, `not wholly expressible as ${format}: ${named.join(', ')}`);
  }
}

const pauseMs = 2;
