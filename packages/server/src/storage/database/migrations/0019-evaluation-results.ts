import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Adds the answer of the last evaluation of each collection. */
export const addEvaluationResults: Migration = {
  async up(db) {
    await sql`alter table evaluation add column result text`.execute(db);
  },
};
