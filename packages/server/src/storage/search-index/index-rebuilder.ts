import type { Kysely } from 'kysely';
import type { Logger } from '../../platform/log/logger.ts';
import { analysisVersion } from '../../stores/search/analysis/analysis-version.ts';
import type { Database } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import type { RebuildMetrics } from './merge-metrics.ts';

export interface IndexRebuilderDeps extends Pick<Database, 'write' | 'searchIndex'> {
  readonly metrics: RebuildMetrics;
  readonly logger: Logger;
}

/**
 * Does a step of the rebuilds that are due.
 * @returns the collection whose index was changed; undefined when no rebuild is due
 */
export type RebuildSome = () => Promise<string | undefined>;

/**
 * Rebuilds the search index of each collection whose terms are of an earlier version of the analysis, one collection
 * after another. A rebuild that was begun, for example by `fsck --repair`, comes first.
 */
export function createIndexRebuilder(deps: IndexRebuilderDeps): RebuildSome {
  const { write, searchIndex, metrics, logger } = deps;
  let current: string | undefined;

  return async () => {
    const collectionId = await findDue(write);
    if (collectionId === undefined) {
      metrics.due(0);
      return undefined;
    }
    const isBegun = collectionId === current;
    const isFinished = await write.transaction().execute((db) => searchIndex.rebuild(db, collectionId));
    if (!isBegun) {
      const due = await countDue(write);
      metrics.due(due);
      logger.info({ collection_id: collectionId, due }, 'index rebuild started');
      current = collectionId;
    }
    if (isFinished) {
      current = undefined;
      metrics.rebuilt();
      logger.info({ collection_id: collectionId }, 'index rebuild finished');
    }
    return collectionId;
  };
}

/** Begun rebuilds come first. */
async function findDue(db: Kysely<Tables>): Promise<string | undefined> {
  const begun = await db.selectFrom('index_rebuild').select('collection_id').limit(1).executeTakeFirst();
  return (begun ?? (await ofOtherAnalysis(db).limit(1).executeTakeFirst()))?.collection_id;
}

async function countDue(db: Kysely<Tables>): Promise<number> {
  const begun = db.selectFrom('index_rebuild').select('collection_id');
  return (await begun.union(ofOtherAnalysis(db)).execute()).length;
}

function ofOtherAnalysis(db: Kysely<Tables>) {
  return db
    .selectFrom('index_segment')
    .innerJoin('collection', 'collection.id', 'index_segment.collection_id')
    .where('index_segment.analysis', '<', analysisVersion)
    .where('index_segment.state', '=', 'live')
    .where('collection.status', '=', 'ready')
    .select('index_segment.collection_id')
    .distinct();
}
