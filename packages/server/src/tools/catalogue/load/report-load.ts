import { definitionFormats } from '@quartermaster/contract';
import type { Logger } from '../../../platform/log/logger.ts';
import { type BundleFailure, type Catalogue, type CompiledBundle, isRetired } from '../catalogue.ts';

/** Logs one line for a bundle: its first error and the number of others. `quartermaster bundle check` prints all. */
export function logFailures(failures: readonly BundleFailure[], logger: Logger): void {
  const [first, ...others] = failures;
  if (first === undefined) return;
  const { file, line, field, message } = first;
  const more = others.length === 0 ? {} : { other_errors: others.length };
  logger.error({ file, line, field, reason: message, ...more }, 'bundle load failed');
}

export interface LoadFacts {
  readonly previous: Catalogue | undefined;
  readonly durationMs: number;
  /** The number of bundles whose files were read. The others were cached or unchanged. */
  readonly read: number;
  readonly logger: Logger;
}

/** Logs one line for each load: the size of the active catalogue, what has changed, and which bundles keep an earlier version. */
export function reportLoad(catalogue: Catalogue, { previous, durationMs, read, logger }: LoadFacts): void {
  const { bundles, failures, kept, loading } = catalogue;
  const plugins = [...bundles.values()].reduce((sum, bundle) => sum + bundle.plugins.size, 0);
  // As in every list of bundles.
  const active = [...bundles.values()].filter((bundle) => !isRetired(bundle)).length;
  const counts = { bundles: active, plugins, failures: failures.length };
  const facts = { ...counts, read, loading: loading.length, duration_ms: durationMs };
  const changed = [...bundles.values()].filter((bundle) => previous?.bundles.get(bundle.id) !== bundle);
  const formats = countUnsupported(changed);
  if (previous === undefined) {
    logger.info({ ...facts, ...formats }, 'catalogue loaded');
    return;
  }
  const fields = { ...facts, ...differences(previous.bundles, bundles), ...formats };
  if (kept.length === 0) logger.info(fields, 'catalogue changed');
  else logger.warn({ ...fields, previous_version_kept: kept }, 'catalogue changed');
}

type Bundles = Catalogue['bundles'];

function differences(before: Bundles, after: Bundles) {
  return {
    added: [...after.keys()].filter((id) => !before.has(id)),
    changed: [...after].filter(([id, bundle]) => before.has(id) && before.get(id) !== bundle).map(([id]) => id),
    removed: [...before.keys()].filter((id) => !after.has(id)),
  };
}

/** Counts the new plugins that the format of a provider cannot represent without losses. */
function countUnsupported(bundles: readonly CompiledBundle[]) {
  const plugins = bundles.flatMap((bundle) => [...bundle.plugins.values()]);
  const counts = definitionFormats.flatMap((format) => {
    const number = plugins.filter((plugin) => plugin.unsupported.includes(format)).length;
    return number === 0 ? [] : [{ format, plugins: number }];
  });
  return counts.length === 0 ? {} : { losses_of_formats: counts };
}
