import pg from 'pg';
import { OperatorError } from '../../platform/server-process/operator-error.ts';
import type { Durability, SessionTimeouts } from '../database/database.ts';

/** The event loop counts words inside a transaction, so a session may be idle for longer than a statement may run. */
export const servingTimeouts: SessionTimeouts = { statement: 15_000, lock: 10_000, idleInTransaction: 60_000 };
/** A migration may rewrite tables of any size, and may wait for a backup that reads them. */
export const migrationTimeouts: SessionTimeouts = { statement: 0, lock: 0, idleInTransaction: 0 };

function settingsOf({ statement, lock, idleInTransaction }: SessionTimeouts) {
  return {
    statement_timeout: statement,
    lock_timeout: lock,
    idle_in_transaction_session_timeout: idleInTransaction,
  };
}

/** A setting without effect. Its presence shows that the service's start-up options reached the session. */
const marker = 'quartermaster.options';

/** Returns the options for the start of a session. They override the defaults of the role and of the database. */
export function startupOptions(timeouts: SessionTimeouts): string {
  const settings = { ...settingsOf(timeouts), default_transaction_isolation: 'read\\ committed', [marker]: 1 };
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}

/** Returns the settings for the start of a transaction. They are needed when a pooler shares the session. */
export function localSettings(timeouts: SessionTimeouts): string {
  const settings = Object.entries(settingsOf(timeouts)).map(([name, value]) => `set local ${name} = ${value}`);
  return ['set transaction isolation level read committed', ...settings].join('; ');
}

/** True for the error of a pooler, such as PgBouncer, that accepts no start-up options. */
export function refusesOptions(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '08P01' && /startup parameter/.test(error.message);
}

/** True for the error of PgBouncer in statement mode, which refuses every transaction. */
export function refusesTransactions(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '08P01' && /statement pooling/.test(error.message);
}

/** The server works but is unsuitable because of its role or its configuration. */
export class UnsuitableServer extends OperatorError {}

interface ServerFacts {
  readonly recovering: boolean;
  readonly read_only: string;
  readonly encoding: string;
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly synchronous_commit: string;
  readonly standbys: string;
  readonly marker: string | null;
  /** The schema that unqualified names of new tables get; null when the search path names none that exists. */
  readonly schema: string | null;
}

/**
 * Checked on every new connection. A fail-over or a changed role can lead it to another server or to other defaults.
 */
const factsQuery = `select pg_is_in_recovery() as recovering, ${[
  "current_setting('transaction_read_only') as read_only",
  "current_setting('server_encoding') as encoding",
  "current_setting('fsync') as fsync",
  "current_setting('full_page_writes') as full_page_writes",
  "current_setting('synchronous_commit') as synchronous_commit",
  "current_setting('synchronous_standby_names') as standbys",
  `current_setting('${marker}', true) as marker`,
  'current_schema() as schema',
].join(', ')}`;

export interface SessionFacts {
  /** Whether the service's options reached the session. */
  readonly hasOptions: boolean;
  readonly schema: string | null;
}

/**
 * @param schema the schema of the first session; undefined for the first one
 * @throws UnsuitableServer
 */
export async function checkSession(
  client: pg.ClientBase,
  durability: Durability,
  schema?: string | null,
): Promise<SessionFacts> {
  const { rows } = await client.query<ServerFacts>(factsQuery);
  const facts = rows[0];
  if (facts === undefined) throw new Error('The PostgreSQL server returned no settings.');
  const finding =
    findUnsuitable(facts) ??
    (durability === 'standby' ? findWithoutStandby(facts) : undefined) ??
    findOtherSchema(facts, schema);
  if (finding !== undefined) throw new UnsuitableServer(finding);
  return { hasOptions: facts.marker === '1', schema: facts.schema };
}

/** PostgreSQL finds the tables through the search path. With another path, it finds other tables or none. */
function findOtherSchema({ schema }: ServerFacts, wanted: string | null | undefined): string | undefined {
  if (wanted === undefined || schema === wanted) return undefined;
  return `The search_path of the database role has changed: it led to the schema ${wanted ?? '(none)'} when the service started, and leads to ${schema ?? '(none)'} now. Reset the search_path of the role and of the database, or restart the service.`;
}

function findUnsuitable(facts: ServerFacts): string | undefined {
  if (facts.recovering) {
    return 'The PostgreSQL server is a standby (pg_is_in_recovery() is true), which takes no writes; connect to the primary.';
  }
  if (facts.read_only === 'on') {
    return 'The PostgreSQL server is read-only (transaction_read_only = on); connect to a server that takes writes, or reset default_transaction_read_only.';
  }
  if (facts.encoding !== 'UTF8') {
    return `The PostgreSQL database has the encoding ${facts.encoding}, which cannot store every text; create it with encoding 'UTF8'.`;
  }
  // When one of these is off, a power failure can lose acknowledged rows or the whole database.
  const off = (['fsync', 'full_page_writes', 'synchronous_commit'] as const).find((name) => facts[name] === 'off');
  return off === undefined
    ? undefined
    : `The PostgreSQL server runs with ${off} = off and would lose acknowledged data; turn it on, for the server, the database and the role.`;
}

function findWithoutStandby({ standbys, synchronous_commit }: ServerFacts): string | undefined {
  const wanted = 'QUARTERMASTER_DATABASE_DURABILITY=standby needs';
  if (standbys === '') return `${wanted} synchronous standbys; the server has synchronous_standby_names = ''.`;
  if (synchronous_commit === 'on' || synchronous_commit === 'remote_apply') return undefined;
  return `${wanted} synchronous_commit = on or remote_apply, for the server, the database and the role; found ${synchronous_commit}.`;
}
