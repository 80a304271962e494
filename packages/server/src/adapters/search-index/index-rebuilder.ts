import type { Kysely } from 'kysely';
import type { Logger } from '../../kernel/log/logger.ts';
import { analysisVersion } from '../../search/analysis/analysis-version.ts';
import type { DatabaseSearchIndex } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import type { RebuildMetrics } from './merge-metrics.ts';

export interface IndexRebuilderDeps {
  readonly write: Kysely<Tables>;
  readonly searchIndex: Pick<DatabaseSearchIndex, 'rebuild'>;
  readonly metrics: RebuildMetrics;
  readonly logger: Logger;
}

/**
 * Does a step of the rebuilds that are due.
 * @returns the collection whose index was changed; undefined when no rebuild is due
 */
export type RebuildSome = () => Promise<string | undefined>;

/**
 * Rebuilds the indexes of earlier versions, one collection after another: those of FTS5, and segments with terms of
 * another version of the analysis. A rebuild that was begun, for example by `fsck --repair`, comes first.
 */
export function createIndexRebuilder({ write, searchIndex, metrics, logger }: IndexRebuilderDeps): RebuildSome {
  let current: string | undefined;
  return async () => {
    const collectionId = await findDue(write);
    if (collectionId === undefined) {
      metrics.due(0);
      return undefined;
    }
    if (collectionId !== current) {
      const due = await countDue(write);
      metrics.due(due);
      logger.info({ collection_id: collectionId, due }, 'index rebuild started');
      current = collectionId;
    }
    const isFinished = await write.transaction().execute((db) => searchIndex.rebuild(db, collectionId));
    if (isFinished) {
      current = undefined;
      metrics.rebuilt();
      logger.info({ collection_id: collectionId }, 'index rebuild finished');
    }
    return collectionId;
  };
}

async function findDue(db: Kysely<Tables>): Promise<string | undefined> {
  const begun = await db.selectFrom('index_rebuild').select('collection_id').limit(1).executeTakeFirst();
  if (begun !== undefined) return begun.collection_id;
  const old = await withOldRows(db).limit(1).executeTakeFirst();
  const found = old ?? (await ofOtherAnalysis(db).limit(1).executeTakeFirst());
  return found?.collection_id;
}

async function countDue(db: Kysely<Tables>): Promise<number> {
  const due = await Promise.all([
    db.selectFrom('index_rebuild').select('collection_id').execute(),
    withOldRows(db).execute(),
    ofOtherAnalysis(db).execute(),
  ]);
  return new Set(due.flat().map((row) => row.collection_id)).size;
}

/** Selects collections with rows in an index of FTS5. Those without statistics come first: segments have replaced it. */
function withOldRows(db: Kysely<Tables>) {
  return db
    .selectFrom('full_text_place')
    .innerJoin('collection', 'collection.id', 'full_text_place.collection_id')
    .leftJoin('full_text', 'full_text.collection_id', 'full_text_place.collection_id')
    .where('collection.status', '=', 'ready')
    .select('full_text_place.collection_id')
    .orderBy('full_text.chunks')
    .orderBy('full_text_place.number');
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
