import type { Kysely, Selectable, Transaction } from 'kysely';
import type { Clock } from '../../platform/clock.ts';
import type { CommonDeps } from '../../platform/common-deps.ts';
import type { Registry } from '../../platform/metrics.ts';
import type { ChangeFence } from '../../platform/nodes/open-node.ts';
import type { IndexedChunk, SearchIndex } from '../../stores/search/search-index.ts';
import type { chunkColumns } from './chunk-columns.ts';
import type { ChunkTexts } from './chunk-texts.ts';
import type { ChunkTable } from './collection-tables.ts';
import type { Tables } from './tables.ts';

export interface DatabaseSearchIndex extends SearchIndex<Kysely<Tables>, Transaction<Tables>, ChunkRow> {
  /**
   * PostgreSQL only: builds what `add` inserts, before the transaction.
   * @returns the function that inserts it
   */
  prepare?(
    collectionId: string,
    chunks: readonly IndexedChunk[],
  ): Promise<(transaction: Transaction<Tables>) => Promise<void>>;
  /**
   * Removes chunks of a record from the index and adds them again as they are stored now. The caller has locked the record
   * and its collection.
   * @returns false when a rebuild does so
   */
  reindex(db: Transaction<Tables>, collectionId: string, chunks: readonly ChunkTexts[]): Promise<boolean>;
}
/** What an answer needs of a chunk and its record. */
export type ChunkRow = Pick<Selectable<ChunkTable>, (typeof chunkColumns)[number]> & {
  readonly [Name in 'title' | 'file_id' | 'url' | 'file']: string | null;
};

/**
 * The open database. All changes go through `write`. In SQLite, `write` is one connection in a worker thread: its
 * transactions run one after another with BEGIN IMMEDIATE and a full sync. `read` sees every acknowledged commit. In
 * PostgreSQL both share one pool.
 */
export interface Database {
  readonly dialect: 'sqlite' | 'postgres';
  readonly read: Kysely<Tables>;
  readonly write: Kysely<Tables>;
  /**
   * Handles the writes of heartbeats and leases. In PostgreSQL it has its own connection, so that it never waits for
   * other work.
   */
  readonly leases: Kysely<Tables>;
  /** The clock that all processes on this database share. With SQLite it is the clock of the machine. */
  readonly clock: Clock;
  readonly searchIndex: DatabaseSearchIndex;
  /**
   * Starts background work until `close`: merges segments of the search index, and returns free pages of SQLite to the disk.
   * Only the service calls it.
   * @param hasFreeSpace whether the disk has enough free space for background work to write
   */
  startMaintenance(hasFreeSpace: () => Promise<boolean>): void;
  /**
   * Delays a writer that adds chunks to a collection faster than its search index is merged. Not inside a transaction.
   * Absent when writers never wait.
   */
  readonly untilMerged?: (collectionId: string) => Promise<void>;
  /** PostgreSQL only: reserves values of `chunk.seq`, in ascending order. Those that are not used are lost. */
  readonly reserveSeqs?: (count: number) => Promise<readonly number[]>;
  /** PostgreSQL only: refuses changes of a process that another one may have replaced. */
  readonly fence?: ChangeFence;
  /** Throws SERVICE_UNAVAILABLE while the database is known to be unavailable. Sends no statement. */
  assertAvailable(): void;
  /** Throws when no commit is possible. `/v1/ready` uses it. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Limits of a session in milliseconds; 0 means no limit. */
export interface SessionTimeouts {
  /** The server stops a longer statement, and the client stops waiting for its answer. */
  readonly statement: number;
  readonly lock: number;
  readonly idleInTransaction: number;
}

/** With `standby`, a commit is acknowledged only after a standby has stored it as well. */
export type Durability = 'local' | 'standby';

export interface DatabaseSettings extends Pick<CommonDeps, 'admission' | 'logger'> {
  /** A PostgreSQL URL; null selects the SQLite file in the data folder. */
  readonly url: string | null;
  readonly dataFolder: string;
  /** Refuses a place without a store and creates nothing there. Otherwise a new store is created. */
  readonly mustExist?: boolean;
  /** Called before the tables of a new store are created. When it throws, a PostgreSQL database stays empty, and no SQLite file is created. */
  readonly beforeCreation?: () => Promise<void>;
  /** The id of the store that a move copies into the database. Others cannot open it until the move ends. */
  readonly movedStore?: string;
  readonly metrics?: Registry;
  /** The clock of this machine. */
  readonly clock?: Clock;
  /** PostgreSQL only: the number of connections of this process. */
  readonly connections?: number;
  /** PostgreSQL only: where a commit must be stored before it is acknowledged. */
  readonly durability?: Durability;
  readonly timeouts?: SessionTimeouts;
  /** Bytes of search indexes that each thread of questions caches at most. */
  readonly searchCacheBytes?: number;
}
