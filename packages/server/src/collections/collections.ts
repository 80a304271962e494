import {
  builtInEmbeddingModel,
  type Collection,
  type CollectionCreate,
  type CollectionUpdate,
  type ListQuery,
  type VectorState,
} from '@quartermaster/contract';
import type { Clock } from '../kernel/clock.ts';
import type { CountExceeded } from '../kernel/concurrency/limit-counter.ts';
import { isId, type NewId } from '../kernel/identifier.ts';
import type { Page } from '../kernel/page.ts';
import { readMetadata, readText } from './chunks/read-fields.ts';
import { type CollectionRepository, type CountedCollection, maxCapacity } from './collection-repository.ts';
import { collectionNotFound, noEmbeddingModel, tooManyCollections } from './problems.ts';

/** The configured model, and whether the collections without its vectors have been determined. */
export interface EmbeddingOfCollections {
  readonly model: string;
  readonly isReady: () => boolean;
  readonly restart: (collectionId: string) => Promise<void>;
}

export interface CollectionLimits {
  /** Of one project. */
  readonly collections: number;
  /** Of one collection. */
  readonly records: number;
  /** Of one project: those that wait or are in work. */
  readonly waitingRecords: number;
}

export interface CollectionsDeps {
  readonly collections: CollectionRepository;
  readonly limits: Pick<CollectionLimits, 'collections'>;
  readonly countExceeded?: CountExceeded | undefined;
  readonly clock: Clock;
  readonly newId: NewId;
  /** Called when a collection is marked as deleting, so that its rows go at once. */
  readonly onDeleting: () => void;
  /** The model in use, and what has a collection embedded by it anew; null: there is none. */
  readonly embedding: EmbeddingOfCollections | null;
}

export interface Collections {
  create(projectId: string, body: CollectionCreate): Promise<Collection>;
  get(projectId: string, collectionId: string): Promise<Collection>;
  /** As it is stored, for the rest of the room. */
  find(projectId: string, collectionId: string): Promise<CountedCollection>;
  list(projectId: string, query: ListQuery): Promise<Page<Collection>>;
  update(projectId: string, collectionId: string, body: CollectionUpdate): Promise<Collection>;
  /** Has all its chunks embedded anew by the model in use. @throws INVALID_REQUEST when there is none. */
  reembed(projectId: string, collectionId: string): Promise<Collection>;
  remove(projectId: string, collectionId: string): Promise<void>;
}

/** Collections of a project. Whatever is not there, or is another project's, is OBJECT_NOT_FOUND. */
export function createCollections(deps: CollectionsDeps): Collections {
  const { collections, limits, clock, newId, embedding } = deps;
  const toItem = (collection: CountedCollection) => toCollectionItem(collection, embedding);

  async function find(projectId: string, collectionId: string): Promise<CountedCollection> {
    const found = isId(collectionId) ? await collections.find(projectId, collectionId) : undefined;
    if (found === undefined) throw collectionNotFound(collectionId);
    return found;
  }

  return {
    find,
    async create(projectId, body) {
      const now = clock.now();
      const collection = {
        id: newId('collection'),
        projectId,
        type: body.type ?? 'text',
        name: readText(body.name ?? '', 'body/name'),
        description: readText(body.description ?? '', 'body/description'),
        capacity: body.capacity ?? maxCapacity,
        embeddingModelId: readText(body.embedding_model_id ?? builtInEmbeddingModel, 'body/embedding_model_id'),
        metadata: readMetadata(body.metadata ?? {}),
        createdAt: now,
        updatedAt: now,
      };
      if (!(await collections.add(collection, limits.collections))) {
        deps.countExceeded?.('collections_of_project');
        throw tooManyCollections(limits.collections);
      }
      return toItem({ ...collection, numRecords: 0, numChunks: 0, numRefused: 0, vectors: null });
    },
    get: async (projectId, collectionId) => toItem(await find(projectId, collectionId)),
    async list(projectId, query) {
      const page = await collections.list(projectId, checkCursors(query, collectionNotFound));
      if (page === undefined) throw collectionNotFound(query.after ?? query.before ?? '');
      return { items: page.items.map(toItem), hasMore: page.hasMore };
    },
    async update(projectId, collectionId, body) {
      const before = await find(projectId, collectionId);
      const { name, description, metadata } = body;
      if (name === undefined && description === undefined && metadata === undefined) return toItem(before);
      const change = {
        ...(name === undefined ? {} : { name: readText(name, 'body/name') }),
        ...(description === undefined ? {} : { description: readText(description, 'body/description') }),
        ...(metadata === undefined ? {} : { metadata: readMetadata(metadata) }),
        updatedAt: clock.now(),
      };
      if (!(await collections.change(projectId, collectionId, change))) throw collectionNotFound(collectionId);
      return toItem({ ...before, ...change });
    },
    async reembed(projectId, collectionId) {
      await find(projectId, collectionId);
      if (embedding === null) throw noEmbeddingModel();
      await embedding.restart(collectionId);
      return toItem(await find(projectId, collectionId));
    },
    async remove(projectId, collectionId) {
      const marked = isId(collectionId) && (await collections.markDeleting(projectId, collectionId));
      if (!marked) throw collectionNotFound(collectionId);
      deps.onDeleting();
    },
  };
}

/** @throws what `notFound` makes of a cursor that cannot be an id. */
export function checkCursors(query: ListQuery, notFound: (id: string) => Error): ListQuery {
  for (const cursor of [query.after, query.before]) {
    if (cursor !== undefined && !isId(cursor)) throw notFound(cursor);
  }
  return query;
}

function vectorStateOf({ vectors }: CountedCollection, embedding: EmbeddingOfCollections | null): VectorState {
  if (embedding === null) return 'off';
  if (vectors === null) return 'current';
  if (vectors.model !== embedding.model) return 'other_model';
  return vectors.needsBackfill || !embedding.isReady() ? 'catching_up' : 'current';
}

function toCollectionItem(collection: CountedCollection, embedding: EmbeddingOfCollections | null): Collection {
  return {
    object: 'Collection',
    collection_id: collection.id,
    name: collection.name,
    description: collection.description,
    type: collection.type,
    num_records: collection.numRecords,
    num_chunks: collection.numChunks,
    capacity: collection.capacity,
    embedding_model_id: collection.embeddingModelId,
    embedding_size: collection.vectors?.dimensions ?? 0,
    vectors: vectorStateOf(collection, embedding),
    num_refused_chunks: collection.numRefused,
    status: 'ready',
    metadata: collection.metadata,
    updated_timestamp: collection.updatedAt,
    created_timestamp: collection.createdAt,
  };
}
