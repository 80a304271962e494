import { Kysely, PostgresDialect, PostgresQueryCompiler, sql } from 'kysely';
import { Problem } from '../../kernel/problem.ts';
import type { Database } from './database.ts';
import { migrate } from './migrations.ts';
import type { DatabaseSettings } from './open-database.ts';
import { createPostgresFullText } from './postgres-full-text.ts';
import { openPostgresPool } from './postgres-pool.ts';
import type { Tables } from './tables.ts';

/**
 * PostgreSQL keeps no U+0000 and refuses a statement that holds one. Nothing that is stored has it, so a text that does
 * is found nowhere, and is no failure of ours.
 */
class QueryCompiler extends PostgresQueryCompiler {
  protected override addParameter(parameter: unknown): void {
    const hasNul = typeof parameter === 'string' && parameter.includes('\0');
    super.addParameter(hasNul ? parameter.replaceAll('\0', '\ufffd') : parameter);
  }
}

class Dialect extends PostgresDialect {
  override createQueryCompiler(): QueryCompiler {
    return new QueryCompiler();
  }
}

/** A pool on a PostgreSQL server. @throws when the server does not keep what it acknowledges. */
export async function openPostgresDatabase(url: string, { logger }: DatabaseSettings): Promise<Database> {
  const pool = openPostgresPool(url, logger);
  const db = new Kysely<Tables>({ dialect: new Dialect({ pool }) });
  try {
    await assertDurable(db);
    await migrate(db, 'postgres');
  } catch (error) {
    await db.destroy();
    // Who starts the service is told more than who calls it.
    throw error instanceof Problem ? error.cause : error;
  }
  return {
    dialect: 'postgres',
    read: db,
    write: db,
    fullText: createPostgresFullText(),
    async check() {
      await sql`select 1`.execute(db);
    },
    close: () => db.destroy(),
  };
}

/** With one of these off, a power cut loses rows (or the whole database) that were acknowledged. */
async function assertDurable(db: Kysely<Tables>): Promise<void> {
  for (const name of ['fsync', 'full_page_writes', 'synchronous_commit']) {
    const { rows } = await sql<{ value: string }>`select current_setting(${name}) as value`.execute(db);
    if (rows[0]?.value === 'off') {
      throw new Error(
        `The PostgreSQL server runs with ${name} = off and would lose acknowledged data; turn it on, for the server, the database and the role.`,
      );
    }
  }
}
