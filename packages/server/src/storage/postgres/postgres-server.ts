import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { systemClock } from '../../platform/clock.ts';
import type { ChangeFence } from '../../platform/nodes/open-node.ts';
import type { Durability, SessionTimeouts } from '../database/database.ts';
import { explainPostgresError } from '../database/postgres-errors.ts';
import { changesFenced } from '../database/problems.ts';
import { checkSession, refusesOptions, servingTimeouts, startupOptions } from './postgres-session.ts';

/** Milliseconds until a server that does not answer counts as unreachable. */
const connectTimeout = 10_000;
const probeTimeout = 1_500;
/** Milliseconds of silence after which TCP keep-alive probes the peer. */
const keepAliveDelay = 10_000;

/** All integers stay below 2^53 (ids are text), so `bigint` and `sum(bigint)` can be parsed as numbers. */
const numericTypes: ReadonlySet<number> = new Set([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);
export const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => (numericTypes.has(oid) ? Number : pg.types.getTypeParser(oid, format)),
};

/** Opens connections to one server. */
export interface PostgresServer {
  config(timeouts: SessionTimeouts): pg.ClientConfig;
  /** True when a session gets its settings at the start; otherwise each transaction sets them. */
  sendsOptions(): boolean;
  /**
   * Stops sending start-up options when a pooler refuses them.
   * @returns whether the error is that refusal
   */
  refusedOptions(error: unknown): boolean;
  /** @throws UnsuitableServer */
  check(client: pg.ClientBase): Promise<void>;
  /** Opens a separate connection, checks it and closes it. */
  probe(): Promise<void>;
}

export function createPostgresServer(url: string, durability: Durability): PostgresServer {
  const { connectionString, options } = splitOptions(url);
  let sends = true;
  /** The schema of the first session; undefined before the first session. */
  let schema: string | null | undefined;

  async function checkClient(client: pg.ClientBase): Promise<boolean> {
    const facts = await checkSession(client, durability, schema);
    schema = facts.schema;
    return facts.hasOptions;
  }

  function config(timeouts: SessionTimeouts): pg.ClientConfig {
    return {
      connectionString,
      options: [options, sends ? startupOptions(timeouts) : ''].filter((part) => part !== '').join(' '),
      query_timeout: timeouts.statement,
      connectionTimeoutMillis: connectTimeout,
      // Without keep-alive, a request to a server that lost power or network waits forever and keeps its connection.
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveDelay,
      application_name: 'quartermaster',
      types,
    };
  }
  return {
    config,
    sendsOptions: () => sends,
    refusedOptions(error) {
      const refused = refusesOptions(error);
      if (refused) sends = false;
      return refused;
    },
    async check(client) {
      // A pooler may ignore the options without an error.
      if (!(await checkClient(client))) sends = false;
    },
    async probe() {
      const timeouts = { connectionTimeoutMillis: probeTimeout, query_timeout: probeTimeout };
      const client = new pg.Client({ ...config(servingTimeouts), ...timeouts });
      client.on('error', () => {});
      try {
        await client.connect();
        await checkClient(client);
      } catch (error) {
        // The server answers but has no free connection.
        if (!explainPostgresError(error).refused) throw error;
      } finally {
        // Not awaited, because a silent server does not answer this either.
        client.end().catch(() => {});
      }
    },
  };
}

/**
 * The driver lets options in the URL override those in the configuration, so they are removed from the URL and merged
 * here.
 */
function splitOptions(url: string): { connectionString: string; options: string } {
  const parsed = new URL(url);
  const options = parsed.searchParams.get('options');
  if (options === null) return { connectionString: url, options: '' };
  parsed.searchParams.delete('options');
  return { connectionString: parsed.href, options };
}

interface PostgresFence extends ChangeFence {
  /** @throws SERVICE_UNAVAILABLE while changes are not allowed */
  assert(): void;
  /**
   * Lets a late change wait for the heartbeat that it triggers. A process that was only busy, for example during its start, then
   * continues. @throws SERVICE_UNAVAILABLE when the heartbeat does not succeed
   */
  confirm(): Promise<void> | undefined;
}

/** Milliseconds that a late change waits for the heartbeat. */
const longestConfirmation = 2_000;

/**
 * Allows changes until a time that each heartbeat of the node extends. Both clocks are compared, because the monotonic
 * one stands still while a virtual machine is suspended.
 */
export function createChangeFence(): PostgresFence {
  let monotonicEnd = Number.POSITIVE_INFINITY;
  let wallEnd = Number.POSITIVE_INFINITY;
  let refused: () => Promise<void> | void = () => {};
  const isAllowed = () => performance.now() <= monotonicEnd && systemClock.now() <= wallEnd;
  function assert(): void {
    if (isAllowed()) return;
    void refused();
    throw changesFenced();
  }
  return {
    allowUntil(time) {
      monotonicEnd = time;
      wallEnd = systemClock.now() + (time - performance.now());
    },
    onRefused(callback) {
      refused = callback;
    },
    assert,
    confirm: () =>
      isAllowed()
        ? undefined
        : Promise.race([refused(), pause(longestConfirmation, undefined, { ref: false })]).then(assert),
  };
}

/** Statements that change nothing, and those that end a transaction without an effect. */
const harmless = /^\s*(?:select|show|rollback)\b/i;

export function isChange(statement: string): boolean {
  return !harmless.test(statement);
}
