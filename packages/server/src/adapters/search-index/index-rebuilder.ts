import type { Kysely } from 'kysely';
import type { Logger } from '../../kernel/log/logger.ts';
import { analysisVersion } from '../../search/analysis/analysis-version.ts';
import type { Database } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import { tryLockRebuilds } from './index-locks.ts';
import type { RebuildMetrics } from './merge-metrics.ts';

export interface IndexRebuilderDeps extends Pick<Database, 'dialect' | 'write' | 'searchIndex'> {
  /** Drops what no collection uses any more. Returns whether nothing is left to drop. */
  readonly dropOld?: (db: Kysely<Tables>) => Promise<boolean>;
  readonly metrics: RebuildMetrics;
  readonly logger: Logger;
}

/**
 * Does a step of the rebuilds that are due.
 * @returns the collection whose index was changed; undefined when no rebuild is due, or another process does a step
 */
export type RebuildSome = () => Promise<string | undefined>;

/**
 * Rebuilds the indexes of earlier versions, one collection after another: those of FTS5 or in `posting`, and segments
 * with terms of another version of the analysis. A rebuild that was begun, for example by `fsck --repair`, comes first.
 *
 * Any process may do the next step. A process that finds another one at work leaves the rebuilds to it until its next
 * run, so that mostly one process works, and another one continues when it ends.
 */
export function createIndexRebuilder(deps: IndexRebuilderDeps): RebuildSome {
  const { dialect, write, searchIndex, dropOld = async () => true, metrics, logger } = deps;
  let current: string | undefined;
  let isDropped = false;

  function doStep(collectionId: string): Promise<'busy' | 'continues' | 'finished'> {
    return write.transaction().execute(async (db) => {
      if (dialect === 'postgres' && !(await tryLockRebuilds(db))) return 'busy';
      return (await searchIndex.rebuild(db, collectionId)) ? 'finished' : 'continues';
    });
  }
  return async () => {
    const collectionId = await findDue(write, dialect);
    if (collectionId === undefined) {
      metrics.due(0);
      if (!isDropped) isDropped = await dropOld(write);
      return undefined;
    }
    const isBegun = collectionId === current;
    const outcome = await doStep(collectionId);
    if (outcome === 'busy') return undefined;
    if (!isBegun) {
      const due = await countDue(write, dialect);
      metrics.due(due);
      logger.info({ collection_id: collectionId, due }, 'index rebuild started');
      current = collectionId;
    }
    if (outcome === 'finished') {
      current = undefined;
      metrics.rebuilt();
      logger.info({ collection_id: collectionId }, 'index rebuild finished');
    }
    return collectionId;
  };
}

type Dialect = Database['dialect'];

async function findDue(db: Kysely<Tables>, dialect: Dialect): Promise<string | undefined> {
  const begun = await db.selectFrom('index_rebuild').select('collection_id').limit(1).executeTakeFirst();
  if (begun !== undefined) return begun.collection_id;
  const old = await withOldIndex(db, dialect).limit(1).executeTakeFirst();
  const found = old ?? (await ofOtherAnalysis(db).limit(1).executeTakeFirst());
  return found?.collection_id;
}

async function countDue(db: Kysely<Tables>, dialect: Dialect): Promise<number> {
  const due = await Promise.all([
    db.selectFrom('index_rebuild').select('collection_id').execute(),
    withOldIndex(db, dialect).execute(),
    ofOtherAnalysis(db).execute(),
  ]);
  return new Set(due.flat().map((row) => row.collection_id)).size;
}

function withOldIndex(db: Kysely<Tables>, dialect: Dialect) {
  return dialect === 'sqlite' ? withOldRows(db) : withStatistics(db);
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

/** Selects collections with an index in `posting`. */
function withStatistics(db: Kysely<Tables>) {
  return db
    .selectFrom('full_text')
    .innerJoin('collection', 'collection.id', 'full_text.collection_id')
    .where('collection.status', '=', 'ready')
    .select('full_text.collection_id')
    .orderBy('full_text.chunks')
    .orderBy('full_text.collection_id');
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
