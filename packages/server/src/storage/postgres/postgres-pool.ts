import { setTimeout as pause } from 'node:timers/promises';
import type { PostgresPool } from 'kysely';
import pg from 'pg';
import type { Logger } from '../../platform/log/logger.ts';
import type { SessionTimeouts } from '../database/database.ts';
import {
  explainPostgresError,
  type PostgresFailure,
  retriesOfStatement,
  retryPause,
} from '../database/postgres-errors.ts';
import { databaseUnreachable } from '../database/problems.ts';
import type { Availability } from './postgres-availability.ts';
import { isChange, type PostgresServer } from './postgres-server.ts';
import { localSettings } from './postgres-session.ts';
import { createStatementNames, type StatementNames } from './statement-names.ts';

/**
 * Seconds after which a connection is replaced, which frees the memory of its server process and follows a moved
 * address.
 */
const maxLifetimeSeconds = 20 * 60;
/** Milliseconds for which the pool does not grow after the server has refused a further connection. */
const growthPauseMs = 5_000;

export interface PoolOptions {
  readonly server: PostgresServer;
  readonly timeouts: SessionTimeouts;
  readonly connections: number;
  readonly availability: Availability;
  readonly logger: Logger;
  /** Called when the server refuses a further connection. */
  readonly onRefused: () => void;
  /** Called before each statement that may change something. Rejects when it must not be sent. */
  readonly confirmChange?: (() => Promise<void> | undefined) | undefined;
}

export interface CountedPool extends PostgresPool {
  counts(): { readonly open: number; readonly idle: number; readonly waiting: number };
}

/**
 * Opens a pool of connections to a PostgreSQL server. Each connection is checked before its first use. Failures caused
 * by the server, and not by the statement, become SERVICE_UNAVAILABLE or INSUFFICIENT_STORAGE.
 */
export function openPostgresPool(options: PoolOptions): CountedPool {
  const { server, timeouts, connections, availability, logger } = options;
  const pool = new pg.Pool({ ...server.config(timeouts), max: connections, maxLifetimeSeconds });
  const epochs = new WeakMap<pg.PoolClient, number>();
  const names = createStatementNames();
  // The pool replaces an idle connection that breaks. Without a listener, the error would end the process.
  pool.on('error', (error) => {
    logger.warn({ error: error.message }, 'idle database connection lost');
    availability.suspect(error);
  });
  // A connection that breaks between two statements of a transaction fails the next statement. Until then there is no
  // other listener.
  pool.on('connect', (client) => {
    client.on('error', () => {});
  });

  async function open(): Promise<pg.PoolClient> {
    for (;;) {
      const { options: sent } = pool.options;
      try {
        return await pool.connect();
      } catch (error) {
        if (server.refusedOptions(error)) Object.assign(pool.options, server.config(timeouts));
        if (pool.options.options !== sent) continue;
        if (explainPostgresError(error).refused && pool.totalCount > 0) stopGrowing();
        else throw error;
      }
    }
  }

  /** Requests then wait for an open connection. */
  function stopGrowing(): void {
    options.onRefused();
    pool.options.max = Math.max(1, pool.totalCount);
    setTimeout(() => {
      pool.options.max = connections;
    }, growthPauseMs).unref();
  }

  async function take(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await open();
      const epoch = availability.epoch();
      if (epochs.get(client) === epoch) return client;
      // The connection was opened before a failure and may lead to a read-only server.
      if (epochs.has(client)) client.release(true);
      else {
        await server.check(client).catch((error: unknown) => {
          client.release(true);
          throw error;
        });
        epochs.set(client, epoch);
        return client;
      }
    }
  }

  return {
    options: pool.options,
    end: () => pool.end(),
    counts: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    async connect() {
      availability.assert();
      const ended = availability.sent();
      const connecting = take()
        .catch((error: unknown) => {
          availability.suspect(error);
          throw databaseUnreachable(error);
        })
        .finally(() => ended(false));
      const client = await availability.whileAvailable(connecting, (late) => late.release());
      const prefix = server.sendsOptions() ? null : localSettings(timeouts);
      return lend(client, { availability, prefix, names, confirmChange: options.confirmChange });
    },
  };
}

interface Loan {
  readonly availability: Availability;
  /** A statement that is sent together with the start of a transaction. */
  readonly prefix: string | null;
  readonly names: StatementNames;
  readonly confirmChange: PoolOptions['confirmChange'];
}

/** A `copy … from stdin`, whose data follow when the server asks for them. */
class CopyIn extends pg.Query {
  readonly #data: string;

  constructor(text: string, data: string) {
    super(text);
    this.#data = data;
  }
  handleCopyInResponse(connection: CopyConnection): void {
    connection.sendCopyFromChunk(Buffer.from(this.#data));
    connection.endCopyFrom();
  }
}

/** The part of the driver's connection that a copy needs. Its types lack it. */
interface CopyConnection {
  sendCopyFromChunk(data: Buffer): void;
  endCopyFrom(): void;
}

function copyIn(client: pg.PoolClient, text: string, data: string): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    const callback = (error: Error | null, result: pg.QueryResult) =>
      error === null ? resolve(result) : reject(error);
    client.query(Object.assign(new CopyIn(text, data), { callback }));
  });
}

/** A connection between acquire and release. */
function lend(client: pg.PoolClient, { availability, prefix, names, confirmChange }: Loan) {
  let failure: PostgresFailure = {};
  let inTransaction = false;

  async function send(text: string, values: unknown[]) {
    const ended = availability.sent();
    try {
      const name = isNamed(text) ? names.find(text) : undefined;
      const result = await (/^copy\s/.test(text)
        ? copyIn(client, text, String(values[0]))
        : name === undefined
          ? client.query(text, values)
          : client.query({ name, text, values }));
      ended(true);
      return result;
    } catch (error) {
      ended(error instanceof pg.DatabaseError);
      throw error;
    }
  }

  /**
   * Only reads outside of a transaction. A statement of a transaction could not be sent again. Its plan must also fit tables
   * that have just grown, and the server renews a plan only with the statistics of a table.
   */
  function isNamed(text: string): boolean {
    return prefix === null && !inTransaction && /^\s*select\s/.test(text);
  }

  async function begin(text: string) {
    inTransaction = true;
    return await send(prefix === null ? text : `${text}; ${prefix}`, []);
  }

  async function query(text: string, values: unknown[]) {
    // A rollback would wait for a silent server.
    if (failure.connection === 'broken') throw failure.problem;
    const confirmed = isChange(text) ? confirmChange?.() : undefined;
    if (confirmed !== undefined) await confirmed;
    for (let retriesLeft = retriesOfStatement; ; retriesLeft -= 1) {
      try {
        if (/^(begin|start transaction)\b/.test(text)) return await begin(text);
        const result = await send(text, values);
        // The flag is cleared only after success. A failed COMMIT has rolled back, and a second COMMIT alone would
        // succeed without the work.
        if (/^(commit|rollback)$/.test(text)) inTransaction = false;
        return result;
      } catch (error) {
        if (!inTransaction && names.isRefusal(error)) continue;
        const found = explainPostgresError(error);
        // A single statement was rolled back completely and can be retried. A transaction is retried by its caller.
        if (found.retry && inTransaction) throw error;
        if (!found.retry || retriesLeft === 0) throw settle(error, found);
        await pause(retryPause());
      }
    }
  }

  function settle(error: unknown, found: PostgresFailure): unknown {
    if (found.connection !== undefined) {
      failure = found;
      availability.suspect(error, found.connection === 'discard' ? 'stale' : undefined);
    }
    return found.problem ?? error;
  }

  return {
    // Only the promise form of `query` is used, without cursors.
    query: query as never,
    release: (destroy?: boolean) => client.release(destroy === true || failure.connection !== undefined),
  };
}
