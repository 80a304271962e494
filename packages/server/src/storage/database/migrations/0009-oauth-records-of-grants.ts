import type { Migration } from 'kysely/migration';

/** Finds the tokens of a consent: a consent without tokens is not listed, and has few refresh tokens at a time. */
export function createOauthRecordIndex(): Migration {
  return {
    async up(db) {
      await db.schema.createIndex('oauth_record_of_grant').on('oauth_record').columns(['grant_id', 'model']).execute();
    },
  };
}
