import type { PostgresPool } from 'kysely';
import pg from 'pg';
import type { Logger } from '../../kernel/logger.ts';
import { databaseUnreachable } from './problems.ts';

const connections = 10;
/** Milliseconds until a server that does not answer counts as unreachable. */
const connectTimeout = 10_000;
/** Milliseconds of silence after which the kernel asks whether the other side still lives. */
const keepAliveDelay = 10_000;

/** Our whole numbers stay below 2^53 (ids are text); PostgreSQL's `bigint` and `sum(bigint)` come back as numbers. */
const numericTypes: ReadonlySet<number> = new Set([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => (numericTypes.has(oid) ? Number : pg.types.getTypeParser(oid, format)),
};

/** Connections to a PostgreSQL server. What fails because it cannot be reached fails as SERVICE_UNAVAILABLE. */
export function openPostgresPool(url: string, logger: Logger): PostgresPool {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: connectTimeout,
    // Without it, who waits for a server that lost its power or its network waits for ever, and its connection is lost.
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelay,
    application_name: 'quartermaster',
    types,
  });
  // An idle connection that breaks is replaced by the pool at the next query; without a listener it ends the process.
  pool.on('error', (error) => logger.warn({ error: error.message }, 'an idle database connection broke'));
  // One that breaks between the statements of a transaction fails the next of them; nobody else listens meanwhile.
  pool.on('connect', (client) => {
    client.on('error', () => {});
  });
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect().catch(explain);
      return {
        // Cursors, the other form of `query`, are not used.
        query: ((text: string, values: unknown[]) => client.query(text, values).catch(explain)) as never,
        release: (destroy) => client.release(destroy),
      };
    },
  };
}

function explain(error: unknown): never {
  throw isUnreachable(error) ? databaseUnreachable(error) : error;
}

/** PostgreSQL manual, appendix A: connections (class 08), too many of them, a server that stops, crashed or starts. */
const unreachable = /^(08...|53300|57P0[1235])$/;

/** What the server did not say itself was said of the connection, unless it is a mistake in calling the driver. */
function isUnreachable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return unreachable.test(error.code ?? '');
  return error instanceof Error && !(error instanceof TypeError || error instanceof RangeError);
}
