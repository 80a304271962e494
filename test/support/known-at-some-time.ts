import { isDeepStrictEqual } from 'node:util';
import type { KnownCollection, KnownRecord, KnownStores } from './store-caller.ts';

/** Returns a copy that does not change while the caller continues. */
export function rememberNow({ files, collections, unansweredUploads }: KnownStores): KnownStores {
  return structuredClone({ files, collections, unansweredUploads });
}

/**
 * Returns what holds of the stores at some moment between two snapshots: the knowledge that both share. Whether an
 * object created or deleted in between exists is unknown, as is the content of a rewritten record.
 */
export function knownBetween(before: KnownStores, after: KnownStores): KnownStores {
  return {
    files: after.files.map((file) => ({ ...file, fate: commonFate(find(before.files, file.id), file) })),
    collections: after.collections.map((later) => joinCollections(find(before.collections, later.id), later)),
    unansweredUploads: after.unansweredUploads,
  };
}

function joinCollections(earlier: KnownCollection | undefined, later: KnownCollection): KnownCollection {
  const records = later.records.map((record) => joinRecords(find(earlier?.records ?? [], record.id), record));
  return { ...later, records, fate: commonFate(earlier, later) };
}

function joinRecords(earlier: KnownRecord | undefined, later: KnownRecord): KnownRecord {
  // Only records from text are rewritten.
  const isSame = !later.isText || isDeepStrictEqual(earlier?.sources, later.sources);
  return { ...later, sources: isSame ? later.sources : [], fate: commonFate(earlier, later) };
}

function commonFate<T extends { fate: KnownRecord['fate'] }>(earlier: T | undefined, later: T): T['fate'] {
  return earlier?.fate === later.fate ? later.fate : 'unknown';
}

function find<T extends { readonly id: string }>(list: readonly T[], id: string): T | undefined {
  return list.find((each) => each.id === id);
}
