import { Counter, Gauge, type Registry } from '../../platform/metrics.ts';

/** Counts merges of the search index. Without a registry they are not counted. */
export interface MergeMetrics {
  /** @param chunks number of chunks in the merged segment */
  merged(chunks: number): void;
  failed(): void;
  /** A batch of chunks waits for a merge. */
  waited?(): void;
}

export function createMergeMetrics(registry: Registry | undefined): MergeMetrics {
  if (registry === undefined) return { merged() {}, failed() {}, waited() {} };
  const registers = [registry];
  const merges = new Counter({
    name: 'quartermaster_index_merges_total',
    help: 'Finished merges of the search index.',
    registers,
  });
  const chunks = new Counter({
    name: 'quartermaster_index_merged_chunks_total',
    help: 'Chunks in merged segments of the search index.',
    registers,
  });
  const failures = new Counter({
    name: 'quartermaster_index_merges_failed_total',
    help: 'Failed merges of the search index.',
    registers,
  });
  const waits = new Counter({
    name: 'quartermaster_index_merge_waits_total',
    help: 'Batches of chunks that waited for a merge of the search index of their collection.',
    registers,
  });
  return {
    merged(count) {
      merges.inc();
      chunks.inc(count);
    },
    failed: () => failures.inc(),
    waited: () => waits.inc(),
  };
}

/** Counts rebuilds of the search index. Without a registry they are not counted. */
export interface RebuildMetrics {
  /** @param collections number of collections whose index is to be rebuilt */
  due(collections: number): void;
  rebuilt(): void;
}

export function createRebuildMetrics(registry: Registry | undefined): RebuildMetrics {
  if (registry === undefined) return { due() {}, rebuilt() {} };
  const registers = [registry];
  const due = new Gauge({
    name: 'quartermaster_index_rebuilds_due',
    help: 'Collections whose search index is to be rebuilt or is being rebuilt.',
    registers,
  });
  const rebuilds = new Counter({
    name: 'quartermaster_index_rebuilds_total',
    help: 'Finished rebuilds of the search index of a collection.',
    registers,
  });
  return { due: (collections) => due.set(collections), rebuilt: () => rebuilds.inc() };
}

/** Counts records whose chunks are indexed again. Without a registry they are not counted. */
export interface RefreshMetrics {
  /** @param records number of records whose chunks are to be indexed again */
  changed(records: number): void;
  refreshed(): void;
}

export function createRefreshMetrics(registry: Registry | undefined): RefreshMetrics {
  if (registry === undefined) return { changed() {}, refreshed() {} };
  const registers = [registry];
  const changed = new Gauge({
    name: 'quartermaster_index_records_changed',
    help: 'Records with changed metadata whose chunks are to be indexed again, as of the last change of one of them.',
    registers,
  });
  const refreshed = new Counter({
    name: 'quartermaster_index_records_refreshed_total',
    help: 'Records whose chunks were indexed again after a change of their metadata.',
    registers,
  });
  return {
    changed: (records) => changed.set(records),
    refreshed() {
      changed.dec();
      refreshed.inc();
    },
  };
}
