import type { Kysely } from 'kysely';
import { analysisVersion } from '../../../stores/search/analysis/analysis-version.ts';
import { chooseMerge } from '../../../stores/search/segments/choose-merge.ts';
import type { Database } from '../../database/database.ts';
import type { Tables } from '../../database/tables.ts';

/** Milliseconds after which every replaced segment may be deleted. */
const longest = 120_000;
/** Fewer segments of a collection need no merge, unless many of their chunks are removed. */
const leastSegments = 8;

/** Moves the ends of replaced segments into the past, as if two minutes had passed. */
export async function passMinutes({ write }: Database): Promise<void> {
  await write
    .updateTable('index_segment')
    .set((set) => ({ expires_at: set('expires_at', '-', longest) }))
    .where('expires_at', 'is not', null)
    .execute();
}

/**
 * Lists what a rebuild or a merge has to do. Replaced segments count only if they could be deleted at `began`: a process
 * searches for those that expire later once a minute.
 */
export async function findWork({ read }: Database, began: number): Promise<string[]> {
  const [rebuilds, outdated, unfinished, expired] = await Promise.all([
    read.selectFrom('index_rebuild').select('chunks').limit(1).execute(),
    findOutdated(read),
    read.selectFrom('index_segment').select('id').where('state', 'in', ['building', 'rebuilt']).limit(1).execute(),
    findExpired(read, began),
  ]);
  const work = Object.entries({ rebuilds, outdated, unfinished, expired }).flatMap(([name, rows]) =>
    rows.length > 0 ? name : [],
  );
  return (await isMergeDue(read)) ? [...work, 'merges'] : work;
}

/** Finds segments of an earlier version of the analysis. */
function findOutdated(db: Kysely<Tables>) {
  const live = db.selectFrom('index_segment').select('id').where('state', '=', 'live');
  return live.where('analysis', '<', analysisVersion).limit(1).execute();
}

function findExpired(db: Kysely<Tables>, now: number) {
  return db
    .selectFrom('index_segment')
    .select('id')
    .where('state', '=', 'retired')
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '<=', now)]))
    .limit(1)
    .execute();
}

async function isMergeDue(db: Kysely<Tables>): Promise<boolean> {
  const live = await db
    .selectFrom('index_segment')
    .select(['collection_id', 'id', 'position', 'chunks', 'removals'])
    .where('state', '=', 'live')
    .orderBy('position')
    .execute();
  const collections = Map.groupBy(live, ({ collection_id }) => collection_id);
  return collections
    .values()
    .some((segments) => segments.length >= leastSegments && chooseMerge(segments) !== undefined);
}

/** Returns whether segments are left that no question reads. Those of PostgreSQL stay for a minute. */
export async function hasHidden({ read }: Pick<Database, 'read'>): Promise<boolean> {
  const hidden = await read.selectFrom('index_segment').select('id').where('state', '<>', 'live').limit(1).execute();
  return hidden.length > 0;
}
