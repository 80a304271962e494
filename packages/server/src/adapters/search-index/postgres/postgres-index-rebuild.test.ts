import { sql } from 'kysely';
import { temporaryDatabases } from '../../database/testing/temporary-databases.ts';
import { createPostgresFullText } from '../../full-text/postgres-full-text.ts';
import { testIndexRebuild } from '../testing/index-rebuild.suite.ts';

testIndexRebuild('a rebuild of the search index in PostgreSQL', {
  open: temporaryDatabases.PostgreSQL,
  old: {
    create: createPostgresFullText().create,
    async countRows({ database }) {
      const { rows } = await sql<{ n: number }>`
        select (select count(*) from indexed_chunk) + (select count(*) from posting) as n`.execute(database.read);
      return Number(rows[0]?.n);
    },
  },
});
