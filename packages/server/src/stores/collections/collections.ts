import {
  builtInEmbeddingModel,
  type Chunking,
  type Collection,
  type CollectionCreate,
  type CollectionListQuery,
  type CollectionReembedQuery,
  type CollectionType,
  type CollectionUpdate,
  type RetrievalDefaults,
} from '@quartermaster/contract';
import type { CommonDeps } from '../../platform/common-deps.ts';
import type { CountExceeded } from '../../platform/concurrency/limit-counter.ts';
import { isId } from '../../platform/identifier.ts';
import { checkCursors } from '../../platform/list-cursors.ts';
import type { Page } from '../../platform/page.ts';
import { fieldInvalid } from '../../platform/validation/validation-error.ts';
import { isModelId, toModelId } from '../search/embedding/embedders.ts';
import type { ModelTrial } from '../search/embedding/try-model.ts';
import {
  type CollectionChange,
  type CollectionRepository,
  type CountedCollection,
  maxCapacity,
  type StoredCollection,
} from './collection-repository.ts';
import {
  beginsEmbedding,
  describeEmbedding,
  describeVectorSet,
  type EmbeddingNow,
  estimateEmbedding,
  vectorStateOf,
} from './describe-embedding.ts';
import { collectionNotFound, modelFailed, noEmbeddingModel, tooManyCollections, unknownModel } from './problems.ts';
import { checkWeights, readMetadata, readText } from './read-fields.ts';

/** The configured models, and whether the collections without their vectors are known yet. */
export interface EmbeddingOfCollections {
  /** The model of new collections. */
  readonly firstModel: string;
  readonly hasModel: (model: string) => boolean;
  /** The dimensions of the last vector of a model; null while they are unknown. */
  readonly dimensionsOf: (model: string) => number | null;
  readonly pauseOf: EmbeddingNow['pauseOf'];
  readonly isReady: () => boolean;
  /** The ids of the configured models in the API, the first one first. */
  readonly modelIds: readonly string[];
  /** Finds the model with this id, or the first one. */
  readonly findModel: (modelId: string | undefined) => ConfiguredModel | undefined;
  /** Continues embedding. */
  readonly wake: () => void;
}

export interface ConfiguredModel {
  readonly model: string;
  /** The dimensions of its last vector; null while they are unknown. */
  readonly dimensions: () => number | null;
  /** The price of a million tokens; null when it is unknown. */
  readonly price: number | null;
  /** Builds vectors of the model. */
  readonly reembed: (collectionId: string) => Promise<void>;
  /** Sends one short text to the model, and waits at most some seconds. */
  readonly tryOut: () => Promise<ModelTrial>;
}

export interface CollectionLimits {
  /** The maximum per project. */
  readonly collections: number;
  /** The maximum per collection. */
  readonly records: number;
  /** The maximum number of records per project that wait or are being processed. */
  readonly waitingRecords: number;
}

export interface CollectionsDeps extends Pick<CommonDeps, 'clock' | 'newId'> {
  readonly collections: CollectionRepository;
  readonly limits: Pick<CollectionLimits, 'collections'>;
  readonly countExceeded?: CountExceeded | undefined;
  /** Called when a collection is marked as deleting, so that its rows are removed immediately. */
  readonly onDeleting: () => void;
  /** Called when the chunks of the records of a collection have to be replaced. Default: the next periodic run finds them. */
  readonly onRechunk?: () => void;
  /** Returns the models in use, which can change; null without one. */
  readonly embedding: () => EmbeddingOfCollections | null;
}

export interface Collections {
  create(projectId: string, body: CollectionCreate): Promise<Collection>;
  get(projectId: string, collectionId: string): Promise<Collection>;
  /** Returns the stored form, for other parts of this module. It reads one row and counts nothing. */
  find(projectId: string, collectionId: string): Promise<StoredCollection>;
  /** Returns the stored form with the numbers of records and chunks. */
  findCounted(projectId: string, collectionId: string): Promise<CountedCollection>;
  /** @param only the collections that the caller sees; null or absent for all */
  list(projectId: string, query: CollectionListQuery, only?: ReadonlySet<string> | null): Promise<Page<Collection>>;
  update(projectId: string, collectionId: string, body: CollectionUpdate): Promise<Collection>;
  /**
   * Builds vectors of a model beside those in use, and puts them into use when every chunk has one. With `dry_run`, it
   * only estimates what that takes. The model is tried first.
   * @throws NOT_CONFIGURED when no model is configured, REQUEST_VALIDATION_ERROR when no model has the id, PROVIDER_ERROR
   * when the model does not work
   */
  reembed(projectId: string, collectionId: string, query: CollectionReembedQuery): Promise<Collection>;
  remove(projectId: string, collectionId: string): Promise<void>;
}

/** Manages the collections of a project. Missing objects and objects of other projects give OBJECT_NOT_FOUND. */
export function createCollections(deps: CollectionsDeps): Collections {
  const { collections, limits, clock, newId } = deps;
  /**
   * Returns the function that describes collections. It must be called before they are read: a collection that is read
   * before the embedder is ready looks complete, although it is marked for the backfill at that moment.
   */
  function describeCollections(): (collection: CountedCollection) => Collection {
    const embedding = deps.embedding();
    const isReady = embedding?.isReady() ?? true;
    return (collection) => toCollectionItem(collection, embedding && { ...embedding, isReady });
  }

  async function findCounted(projectId: string, collectionId: string): Promise<CountedCollection> {
    const found = isId(collectionId) ? await collections.find(projectId, collectionId) : undefined;
    if (found === undefined) throw collectionNotFound(collectionId);
    return found;
  }

  async function get(projectId: string, collectionId: string): Promise<Collection> {
    const toItem = describeCollections();
    return toItem(await findCounted(projectId, collectionId));
  }

  return {
    async find(projectId, collectionId) {
      const found = isId(collectionId) ? await collections.findUncounted(projectId, collectionId) : undefined;
      if (found === undefined) throw collectionNotFound(collectionId);
      return found;
    },
    findCounted,
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
        embeddingPaused: false,
        retrieval: readRetrieval(body.retrieval ?? {}),
        chunking: readChunking(body.chunking ?? {}, body.type ?? 'text'),
        metadata: readMetadata(body.metadata ?? {}),
        createdAt: now,
        updatedAt: now,
      };
      if (!(await collections.add(collection, limits.collections))) {
        deps.countExceeded?.('collections_of_project');
        throw tooManyCollections(limits.collections);
      }
      await deps.embedding()?.findModel(collection.embeddingModelId)?.reembed(collection.id);
      return get(projectId, collection.id);
    },
    get,
    async list(projectId, query, only) {
      const toItem = describeCollections();
      const page = await collections.list(projectId, checkCursors(query, 'collection'), only);
      return { ...page, items: page.items.map(toItem) };
    },
    async update(projectId, collectionId, body) {
      const toItem = describeCollections();
      const before = await findCounted(projectId, collectionId);
      const sent = toChange(body, before);
      if (Object.keys(sent).length === 0) return toItem(before);
      const change = { ...sent, updatedAt: clock.now() };
      if (!(await collections.change(projectId, collectionId, change))) throw collectionNotFound(collectionId);
      if (change.embeddingPaused === false) deps.embedding()?.wake();
      if (change.chunking === undefined) return toItem({ ...before, ...change });
      deps.onRechunk?.();
      return toItem(await findCounted(projectId, collectionId));
    },
    async reembed(projectId, collectionId, { embedding_model_id: modelId, dry_run: isDryRun }) {
      const before = await findCounted(projectId, collectionId);
      const wanted = findModel(deps.embedding(), modelId);
      if (isDryRun === true) {
        const meanTokens = await collections.meanTokens(collectionId);
        const embedding_estimate = estimateEmbedding(before, {
          ...wanted,
          dimensions: wanted.dimensions(),
          meanTokens,
        });
        return { ...(await get(projectId, collectionId)), embedding_estimate };
      }
      if (beginsEmbedding(before, { ...wanted, dimensions: wanted.dimensions() })) {
        const { problem } = await wanted.tryOut();
        if (problem !== null) throw modelFailed(wanted.model, problem);
      }
      await wanted.reembed(collectionId);
      return get(projectId, collectionId);
    },
    async remove(projectId, collectionId) {
      const marked = isId(collectionId) && (await collections.markDeleting(projectId, collectionId));
      if (!marked) throw collectionNotFound(collectionId);
      deps.onDeleting();
    },
  };
}

/** @throws NOT_CONFIGURED when no model is configured, REQUEST_VALIDATION_ERROR when no model has the id */
function findModel(embedding: EmbeddingOfCollections | null, modelId: string | undefined) {
  if (embedding === null) throw noEmbeddingModel();
  const found = embedding.findModel(modelId);
  if (found === undefined) throw unknownModel(modelId ?? '', embedding.modelIds);
  return found;
}

function readRetrieval(retrieval: RetrievalDefaults): RetrievalDefaults {
  checkWeights(retrieval.weights, 'body/retrieval/weights');
  return retrieval;
}

/** Returns the members to change. @throws REQUEST_VALIDATION_ERROR for invalid members */
function toChange(body: CollectionUpdate, before: StoredCollection): Omit<CollectionChange, 'updatedAt'> {
  const { name, description, metadata, retrieval, chunking, embedding_paused: embeddingPaused } = body;
  return {
    ...(name === undefined ? {} : { name: readText(name, 'body/name') }),
    ...(description === undefined ? {} : { description: readText(description, 'body/description') }),
    ...(embeddingPaused === undefined ? {} : { embeddingPaused }),
    ...(retrieval === undefined ? {} : { retrieval: readRetrieval(retrieval) }),
    ...(chunking === undefined ? {} : readNewChunking(chunking, before)),
    ...(metadata === undefined ? {} : { metadata: readMetadata(metadata) }),
  };
}

/** @throws REQUEST_VALIDATION_ERROR for a collection that holds no documents */
function readChunking(chunking: Chunking, type: CollectionType): Chunking {
  const isUsed = type === 'text' || chunking.chunk_size === undefined;
  if (!isUsed)
    throw fieldInvalid('body/chunking', 'a chunk size', 'absent or {}, because only collections of type "text" use it');
  return chunking;
}

/** Returns the settings if they differ from the stored ones, so that equal settings replace no chunks. */
function readNewChunking(chunking: Chunking, { type, chunking: stored }: StoredCollection): { chunking?: Chunking } {
  const read = readChunking(chunking, type);
  return read.chunk_size === stored.chunk_size ? {} : { chunking: read };
}

/** An id of ours is that of the model in use. A client may have sent an id of another program, which stays. */
function modelIdOf({ embeddingModelId, vectors }: CountedCollection): string {
  const isOurs = embeddingModelId === builtInEmbeddingModel || isModelId(embeddingModelId);
  return isOurs && vectors !== null ? toModelId(vectors.model) : embeddingModelId;
}

function toCollectionItem(collection: CountedCollection, embedding: EmbeddingNow | null): Collection {
  return {
    object: 'Collection',
    collection_id: collection.id,
    name: collection.name,
    description: collection.description,
    type: collection.type,
    num_records: collection.numRecords,
    num_chunks: collection.numChunks,
    capacity: collection.capacity,
    embedding_model_id: embedding === null ? collection.embeddingModelId : modelIdOf(collection),
    embedding_size: collection.vectors?.dimensions ?? 0,
    vectors: vectorStateOf(collection, embedding),
    vector_sets: [collection.vectors, collection.otherVectors].flatMap((set) =>
      set === null ? [] : describeVectorSet(set, embedding),
    ),
    num_refused_chunks: collection.vectors?.numRefused ?? 0,
    embedding: describeEmbedding(collection, embedding),
    embedding_paused: collection.embeddingPaused,
    retrieval: collection.retrieval,
    chunking: collection.chunking,
    rechunking: {
      num_pending_records: collection.numPendingRecords,
      num_kept_records: collection.numKeptRecords,
    },
    status: 'ready',
    metadata: collection.metadata,
    updated_timestamp: collection.updatedAt,
    created_timestamp: collection.createdAt,
  };
}
