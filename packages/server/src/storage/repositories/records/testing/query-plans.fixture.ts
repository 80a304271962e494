import { CompiledQuery, type Kysely, type KyselyPlugin, type RootOperationNode } from 'kysely';
import type { Database } from '../../../database/database.ts';
import type { Tables } from '../../../database/tables.ts';

/** A database whose handles record every executed statement, so that SQLite can explain exactly those statements. */
export interface ObservedDatabase {
  readonly database: Database;
  /** Returns the texts of the statements executed since the last call. */
  executed(): string[];
  /** Returns each statement executed since the last call with the lines of its query plan in SQLite. */
  plans(): Promise<Array<{ readonly sql: string; readonly plan: readonly string[] }>>;
}

export function observeStatements(database: Database): ObservedDatabase {
  const executed: CompiledQuery[] = [];
  const observe = (db: Kysely<Tables>): Kysely<Tables> => {
    const noting: KyselyPlugin = {
      transformQuery: ({ node, queryId }) => {
        executed.push(db.getExecutor().compileQuery<RootOperationNode>(node, queryId));
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    return db.withPlugin(noting);
  };
  return {
    database: {
      ...database,
      read: observe(database.read),
      write: observe(database.write),
      leases: observe(database.leases),
    },
    executed: () => executed.splice(0).map(({ sql }) => sql),
    async plans() {
      const plans = [];
      for (const { sql, parameters } of executed.splice(0)) {
        const explain = CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]);
        const { rows } = await database.write.executeQuery<{ readonly detail: string }>(explain);
        plans.push({ sql, plan: rows.map(({ detail }) => detail) });
      }
      return plans;
    },
  };
}
