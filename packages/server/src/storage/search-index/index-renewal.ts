import type { Registry } from '../../platform/metrics.ts';
import { createIndexRebuilder, type IndexRebuilderDeps, type RebuildSome } from './index-rebuilder.ts';
import { createRebuildMetrics, createRefreshMetrics } from './merge-metrics.ts';
import { createRecordRefresher, type RecordRefresherDeps } from './record-refresher.ts';

/** Rebuilds the indexes that are due, and then indexes the chunks of changed records again. Each call does one step. */
export function createIndexRenewal(
  deps: Omit<IndexRebuilderDeps & RecordRefresherDeps, 'metrics'>,
  registry: Registry | undefined,
): RebuildSome {
  const rebuildSome = createIndexRebuilder({ ...deps, metrics: createRebuildMetrics(registry) });
  const refreshSome = createRecordRefresher({ ...deps, metrics: createRefreshMetrics(registry) });
  return async () => (await rebuildSome()) ?? refreshSome();
}
