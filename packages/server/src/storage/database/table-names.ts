import type { Tables } from './tables.ts';

/**
 * The type makes the compiler report a missing table. A table follows those that its rows refer to, and `audit_event` is the first,
 * because its rows cannot be deleted: `copy-tables.ts` needs this order.
 */
const own: Readonly<Record<keyof Tables, true>> = {
  audit_event: true,
  store: true,
  project: true,
  project_deletion: true,
  api_key: true,
  key_change: true,
  blob: true,
  blob_intent: true,
  verification: true,
  file: true,
  artifact: true,
  bundle_archive: true,
  trusted_publisher: true,
  project_usage: true,
  idempotency: true,
  kept_answer_usage: true,
  answer_key: true,
  credential_profile: true,
  bundle_client: true,
  collection: true,
  record: true,
  record_row: true,
  record_turn: true,
  record_key_turn: true,
  chunk: true,
  pair_key: true,
  index_segment: true,
  index_page: true,
  index_rebuild: true,
  account: true,
  member: true,
  session: true,
  set_up_token: true,
  attempt_counter: true,
  input_keeper: true,
  run: true,
  run_request: true,
  run_result: true,
  collection_vector: true,
  chunk_vector: true,
  second_chunk_vector: true,
  similarity_scale: true,
  evaluation: true,
  process: true,
  commit_check: true,
  node: true,
  task_leader: true,
  oauth_client: true,
  oauth_grant: true,
  oauth_record: true,
  rate_limit: true,
  rate_usage: true,
};

/**
 * Every table and view of a store in PostgreSQL, including the tables of Kysely's migrator. The same schema may
 * contain tables of other applications.
 */
export const tableNames: readonly string[] = [...Object.keys(own), ...['schema_migration', 'schema_migration_lock']];
