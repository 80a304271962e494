import pg from 'pg';
import { explainPostgresError } from './postgres-errors.ts';
import {
  checkSession,
  type Durability,
  refusesOptions,
  type SessionTimeouts,
  servingTimeouts,
  startupOptions,
} from './postgres-session.ts';

/** Milliseconds until a server that does not answer counts as unreachable. */
const connectTimeout = 10_000;
const probeTimeout = 1_500;
/** Milliseconds of silence after which the kernel asks whether the other side still lives. */
const keepAliveDelay = 10_000;

/** Our whole numbers stay below 2^53 (ids are text); PostgreSQL's `bigint` and `sum(bigint)` come back as numbers. */
const numericTypes: ReadonlySet<number> = new Set([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => (numericTypes.has(oid) ? Number : pg.types.getTypeParser(oid, format)),
};

/** How connections to one server are made. */
export interface PostgresServer {
  config(timeouts: SessionTimeouts): pg.ClientConfig;
  /** Whether sessions start with their settings; otherwise each transaction brings them. */
  sendsOptions(): boolean;
  /** After a pooler has refused them no more are sent. @returns whether that is what happened */
  stopsSendingOptions(error: unknown): boolean;
  /** @throws UnsuitableServer */
  check(client: pg.ClientBase): Promise<void>;
  /** Makes a connection of its own, checks it and closes it. */
  probe(): Promise<void>;
}

export function createPostgresServer(url: string, durability: Durability): PostgresServer {
  const { connectionString, given } = splitOptions(url);
  let sends = true;

  function config(timeouts: SessionTimeouts): pg.ClientConfig {
    return {
      connectionString,
      options: [given, sends ? startupOptions(timeouts) : ''].filter((part) => part !== '').join(' '),
      query_timeout: timeouts.statement,
      connectionTimeoutMillis: connectTimeout,
      // Without it, who waits for a server that lost its power or its network waits for ever, and its connection is lost.
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveDelay,
      application_name: 'quartermaster',
      types,
    };
  }
  return {
    config,
    sendsOptions: () => sends,
    stopsSendingOptions(error) {
      if (!refusesOptions(error) || !sends) return false;
      sends = false;
      return true;
    },
    check: (client) => checkSession(client, durability),
    async probe() {
      const timeouts = { connectionTimeoutMillis: probeTimeout, query_timeout: probeTimeout };
      const client = new pg.Client({ ...config(servingTimeouts), ...timeouts });
      client.on('error', () => {});
      try {
        await client.connect();
        await checkSession(client, durability);
      } catch (error) {
        // It answers, and has no connection to spare.
        if (!explainPostgresError(error).refused) throw error;
      } finally {
        // Not awaited: a silent server does not answer to it either.
        client.end().catch(() => {});
      }
    },
  };
}

/** Options in the URL are stronger for the driver than those beside it, so they are taken out and put in front. */
function splitOptions(url: string): { connectionString: string; given: string } {
  const parsed = new URL(url);
  const given = parsed.searchParams.get('options');
  if (given === null) return { connectionString: url, given: '' };
  parsed.searchParams.delete('options');
  return { connectionString: parsed.href, given };
}
