import { createAdmission } from '../../../platform/admission/admission.ts';
import { createLogger } from '../../../platform/log/logger.ts';
import { until } from '../../../platform/testing/until.ts';
import type { Database } from '../../database/database.ts';
import { openDatabase } from '../../open-database.ts';
import { createCollectionRepository } from '../../repositories/records/collection-repository.ts';
import { findWork, passMinutes } from './background-work.ts';
import {
  type ChangingCollection,
  createChangingCollection,
  markRebuildDue,
  openChangingCollection,
  type Texts,
} from './changing-collection.suite.ts';
import { watchSteps } from './kill-points.ts';

/** The collections of a store that a process changes until it is killed or its machine loses power. */
export interface ChangingStore {
  readonly folder: string;
  /** The URL of the database in PostgreSQL; null with SQLite. */
  readonly url: string | null;
  /** Its index is rebuilt while the collection is changed. */
  readonly kept: string;
  /** Collections that are deleted, one of them while its index is rebuilt. */
  readonly deleted: readonly string[];
}

export interface StoreObserver {
  /** Called before a message of one of `killKindsOf` is sent to a SQLite thread or to PostgreSQL. */
  onStep(kind: string): void;
  /** Called after each commit that changes the kept collection. */
  onCommit?(texts: Texts): void;
  /** Called after the commit that deletes a collection. */
  onDeletion?(collectionId: string): void;
}

const logger = createLogger('silent');
/** Number of changes, and the changes after which a collection is deleted. */
const rounds = 80;
const deletedAfter = [2, 10];
/** Number of segments that are added after the changes. Enough of one size for a merge. */
const addedAtEnd = 10;
/** Number of changes between two moments at which replaced segments of PostgreSQL expire. */
const roundsPerMinute = 8;
/** Maximum number of rows that one transaction of a deletion changes. */
const sweptAtOnce = 100;

export function openStore({ folder, url }: Pick<ChangingStore, 'folder' | 'url'>): Promise<Database> {
  return openDatabase({ admission: createAdmission(), url, dataFolder: folder, logger });
}

export interface NewStore extends Pick<ChangingStore, 'folder' | 'url'> {
  readonly projectId?: string;
}

/** Creates the collections in the database. */
export async function createChangingStore({ folder, url, ...project }: NewStore): Promise<ChangingStore> {
  const database = await openStore({ folder, url });
  try {
    const kept = await createChangingCollection(database, { seed: 5, ...project });
    await kept.add(1200);
    const rebuilt = await createChangingCollection(database, { seed: 6, ...project });
    await rebuilt.add(600);
    for (const { id } of [kept, rebuilt]) await markRebuildDue(database, id);
    const merged = await createChangingCollection(database, { seed: 7, ...project });
    for (let n = 0; n < 20; n++) await merged.add(30);
    await merged.remove(40);
    return { folder, url, kept: kept.id, deleted: [rebuilt.id, merged.id] };
  } finally {
    await database.close();
  }
}

/** Changes the kept collection and deletes the others, while indexes are rebuilt and merged in the background. */
export async function changeStore(
  { kept, deleted, ...place }: ChangingStore,
  { seed, ...observer }: StoreObserver & { readonly seed: number },
): Promise<void> {
  watchSteps(place.url === null ? 'sqlite' : 'postgres', (kind) => observer.onStep(kind));
  const database = await openStore(place);
  const collection = await openChangingCollection(database, {
    collectionId: kept,
    seed,
    onCommit: (texts) => observer.onCommit?.(texts),
  });
  const began = database.clock.now();
  database.startMaintenance(async () => true);
  const sweeps: Promise<void>[] = [];
  for (let round = 0; round < rounds; round++) {
    await collection.changeSomehow();
    if (place.url !== null && round % roundsPerMinute === 0) await passMinutes(database);
    const id = deleted[deletedAfter.indexOf(round)];
    if (id === undefined) continue;
    await markDeleting(database, id);
    observer.onDeletion?.(id);
    sweeps.push(sweep(database, id));
  }
  await Promise.all(sweeps);
  await until(async () => (await findWork(database, began)).length === 0);
  await mergeAdditions(database, collection);
  await database.close();
}

/** Which merges run beside the changes depends on the load of the machine. This one writes pages in every run. */
async function mergeAdditions({ read }: Database, collection: ChangingCollection): Promise<void> {
  const newest = read.selectFrom('index_segment').select('id').where('collection_id', '=', collection.id);
  const before = await newest.orderBy('id', 'desc').limit(1).executeTakeFirst();
  for (let n = 0; n < addedAtEnd; n++) await collection.add(12);
  const added = newest.where('state', '=', 'live').where('id', '>', before?.id ?? 0);
  await until(async () => (await added.execute()).length < addedAtEnd);
}

async function markDeleting(database: Database, collectionId: string): Promise<void> {
  const { project_id } = await database.read
    .selectFrom('collection')
    .select('project_id')
    .where('id', '=', collectionId)
    .executeTakeFirstOrThrow();
  const isMarked = await createCollectionRepository(database).markDeleting(project_id, collectionId);
  if (!isMarked) throw new Error(`the collection ${collectionId} cannot be deleted`);
}

/** Removes the rows of a deleted collection, as the service does in the background. */
export function sweep(database: Database, collectionId: string): Promise<void> {
  return createCollectionRepository(database).sweep(collectionId, sweptAtOnce, new AbortController().signal);
}
