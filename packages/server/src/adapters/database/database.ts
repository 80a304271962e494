import type { Kysely } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../kernel/log/logger.ts';
import type { Registry } from '../../kernel/metrics.ts';
import type { FullText } from '../full-text/full-text.ts';
import type { Durability, SessionTimeouts } from '../postgres/postgres-session.ts';
import type { Tables } from './tables.ts';

/**
 * The open database. `write` is the only handle that changes anything: in SQLite it is one connection in a worker
 * thread, so its transactions run one after another, each BEGIN IMMEDIATE … COMMIT with a full sync. `read` sees
 * every commit that was acknowledged. In PostgreSQL both are one pool.
 */
export interface Database {
  readonly dialect: 'sqlite' | 'postgres';
  readonly read: Kysely<Tables>;
  readonly write: Kysely<Tables>;
  /** For writes. In PostgreSQL a connection reserved for heartbeats and leases, so that they never wait for other work. */
  readonly leases: Kysely<Tables>;
  /** The clock that all processes on this database use; with SQLite that of the machine. */
  readonly clock: Clock;
  readonly fullText: FullText;
  /** Throws SERVICE_UNAVAILABLE while the database is known to be away. Sends no statement. */
  assertAvailable(): void;
  /** Throws when nothing can be committed; used by `/v1/ready`. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface DatabaseSettings {
  /** A PostgreSQL URL; null for the SQLite file in the data folder. */
  readonly url: string | null;
  readonly dataFolder: string;
  readonly logger: Logger;
  readonly metrics?: Registry;
  /** The clock of this machine. */
  readonly clock?: Clock;
  /** PostgreSQL: connections of this process. */
  readonly connections?: number;
  /** PostgreSQL: where a commit must be stored before it is acknowledged. */
  readonly durability?: Durability;
  readonly timeouts?: SessionTimeouts;
}
