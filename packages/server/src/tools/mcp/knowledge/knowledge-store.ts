import type {
  Chunk,
  ChunkQuery,
  Collection,
  ListQuery,
  Ranking,
  RecordItem,
  ScoredChunk,
  WordsReason,
} from '@quartermaster/contract';
import type { Owner } from '../../../platform/admission/owner.ts';
import type { Page } from '../../../platform/page.ts';

interface RecordKey {
  readonly projectId: string;
  readonly collectionId: string;
  readonly recordId: string;
}

interface ChunkKey {
  readonly projectId: string;
  readonly collectionId: string;
  readonly chunkId: string;
}

interface AskedCollections extends Owner {
  readonly collectionIds: readonly string[];
}

/** The title of a record, and the file or URL that it was created from. */
export interface NamedRecord {
  readonly title: string;
  readonly fileId: string | null;
  readonly fileName: string | null;
  readonly url: string | null;
}

/** The chunks that answer a question, the rankings that found them, and why one was not that asked for. */
export interface FoundChunks {
  readonly items: readonly ScoredChunk[];
  readonly hasGoodMatch: boolean;
  readonly rankings: ReadonlyArray<{ readonly ranking: Ranking; readonly reason: WordsReason | null }>;
}

/**
 * The collections of all projects, as the knowledge tools read them. Every method works within one project. Missing objects and
 * objects of other projects give OBJECT_NOT_FOUND.
 */
export interface KnowledgeStore {
  readonly collections: {
    get(projectId: string, collectionId: string): Promise<Collection>;
    /** @param only ids of the collections to list; null or absent for all */
    list(projectId: string, query: ListQuery, only?: ReadonlySet<string> | null): Promise<Page<Collection>>;
  };
  readonly records: {
    get(key: RecordKey): Promise<RecordItem>;
    list(projectId: string, collectionId: string, query: ListQuery): Promise<Page<RecordItem>>;
    /** Names records with one query. Records that do not exist are omitted. */
    name(projectId: string, recordIds: readonly string[]): Promise<ReadonlyMap<string, NamedRecord>>;
  };
  readonly chunks: {
    get(key: ChunkKey): Promise<Chunk>;
    list(of: RecordKey, query: ListQuery): Promise<Page<Chunk>>;
    query(of: AskedCollections, body: ChunkQuery, signal?: AbortSignal): Promise<FoundChunks>;
  };
  /** Counts tokens without blocking the event loop. */
  countTokens(text: string): Promise<number>;
  /** The URL of the console, as browsers reach it. */
  consoleUrl(): string;
}
