import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { getCACertificates } from 'node:tls';
import { promisify } from 'node:util';
import pg from 'pg';
import { explainFailedConnection } from '../database/postgres-errors.ts';
import { programFailed, programMissing, sessionsShared } from '../database/problems.ts';

/** Milliseconds until a server that does not answer counts as unreachable. */
const connectTimeout = 10_000;

export interface PostgresTarget {
  readonly url: string;
  /** The programs are searched in its PATH. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Opens one connection for a command, with the same options as the service uses. */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectTimeout,
    keepAlive: true,
    application_name: 'quartermaster backup',
  });
  // A connection that breaks fails the next query.
  client.on('error', () => {});
  await client.connect().catch((error: unknown) => {
    throw explainFailedConnection(error) ?? error;
  });
  return client;
}

/**
 * Runs a PostgreSQL program with the connection options that the service's driver reads from the URL, because the
 * driver and libpq interpret `sslmode` differently. All options are passed in the environment, because every user of
 * the machine can read arguments.
 * @param certificates path of a file to which the authorities that Node.js trusts may be written
 * @throws OperatorError behind a pooler that shares sessions
 */
export async function runProgram(
  program: 'pg_dump' | 'pg_restore',
  args: readonly string[],
  { url, environment, certificates, signal }: PostgresTarget & { certificates: string; signal?: AbortSignal },
): Promise<void> {
  const env = { ...environment, ...(await toLibpqEnvironment(url, certificates)) };
  await refuseSharedSessions(url);
  try {
    await promisify(execFile)(program, [...args], { env, maxBuffer: 2 ** 24, ...(signal && { signal }) });
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    throw code === 'ENOENT' ? programMissing(program, error) : programFailed(program, stderr?.trim() || String(error));
  }
}

/** The statements of a second connection whose session is compared with that of the first. */
const comparedStatements = 5;

/**
 * Refuses a pooler that lends one session to several clients, such as PgBouncer with `pool_mode = transaction`. The
 * programs set an empty `search_path` for their session, so the next client of the session would find no table.
 */
async function refuseSharedSessions(url: string): Promise<void> {
  const first = await connect(url);
  try {
    const second = await connect(url);
    try {
      const session = await readSession(first);
      for (let compared = 0; compared < comparedStatements; compared += 1) {
        const other = await readSession(second);
        if (other === session || (await readSession(first)) !== session) throw sessionsShared();
      }
    } finally {
      await second.end();
    }
  } finally {
    await first.end();
  }
}

async function readSession(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid;
}

type LibpqEnvironment = Record<string, string | undefined>;

/** Converts the options of a URL, as the driver interprets them, to environment variables of libpq. */
export async function toLibpqEnvironment(url: string, certificates: string): Promise<LibpqEnvironment> {
  const client = new pg.Client({ connectionString: url });
  const query = new URL(url).searchParams;
  const options = query.get('options');
  return {
    PGHOST: client.host,
    PGPORT: String(client.port),
    PGUSER: client.user,
    PGDATABASE: client.database,
    PGPASSWORD: typeof client.password === 'string' ? client.password : undefined,
    PGSERVICE: undefined,
    PGHOSTADDR: undefined,
    PGCONNECT_TIMEOUT: String(connectTimeout / 1000),
    PGSSLCERT: query.get('sslcert') ?? undefined,
    PGSSLKEY: query.get('sslkey') ?? undefined,
    ...(options === null ? {} : { PGOPTIONS: options }),
    ...(await toSslMode(client.ssl as SslOptions, query.get('sslrootcert'), certificates)),
  };
}

type SslOptions = boolean | { readonly rejectUnauthorized?: boolean; readonly checkServerIdentity?: unknown };

async function toSslMode(ssl: SslOptions, rootFile: string | null, certificates: string): Promise<LibpqEnvironment> {
  if (ssl === false) return { PGSSLMODE: 'disable' };
  const options = ssl === true ? {} : ssl;
  if (options.rejectUnauthorized === false) return { PGSSLMODE: 'require', PGSSLROOTCERT: undefined };
  // Without a file libpq trusts no authority, whereas the driver trusts those of Node.js.
  if (rootFile === null) await writeFile(certificates, `${getCACertificates().join('\n')}\n`, { mode: 0o600 });
  const mode = options.checkServerIdentity === undefined ? 'verify-full' : 'verify-ca';
  return { PGSSLMODE: mode, PGSSLROOTCERT: rootFile ?? certificates };
}
