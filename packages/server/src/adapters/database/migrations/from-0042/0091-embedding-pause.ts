import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Adds whether the embedding of a collection is paused. */
export const embeddingPauseMigration: Migration = {
  async up(db) {
    await sql`alter table collection add column embedding_paused integer not null default 0`.execute(db);
  },
};
