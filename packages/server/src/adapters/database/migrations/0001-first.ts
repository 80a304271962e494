import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

/**
 * Creates the first tables of `tables.ts`. PostgreSQL compares ids byte by byte, as SQLite does, so that both sort
 * lists alike.
 */
export function createFirstMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const id = sqlite ? 'text' : 'text collate "C"';
  const whole = sqlite ? 'integer' : 'bigint';
  const counted = sqlite ? 'integer primary key autoincrement' : 'bigint generated always as identity primary key';
  const end = sqlite ? ') strict' : ')';
  const later = 'deferrable initially deferred';

  const statements = [
    `create table project (
      id ${id} primary key not null,
      name text not null unique,
      created_at ${whole} not null
    ${end}`,

    `create table api_key (
      id ${id} primary key not null,
      project_id ${id} not null references project (id) ${later},
      name text not null,
      hash ${id} not null unique,
      hint text not null,
      scopes text not null,
      created_at ${whole} not null,
      expires_at ${whole},
      revoked_at ${whole},
      last_used_at ${whole}
    ${end}`,
    'create index api_key_of_project on api_key (project_id, id)',

    `create table blob (
      id ${id} primary key not null,
      project_id ${id} not null,
      sha256 ${id} not null,
      bytes ${whole} not null,
      state ${id} not null check (state in ('live', 'deleting')),
      created_at ${whole} not null
    ${end}`,
    `create unique index blob_of_content on blob (project_id, sha256) where state = 'live'`,
    `create index blob_to_delete on blob (id) where state = 'deleting'`,

    `create table file (
      id ${id} primary key not null,
      project_id ${id} not null,
      blob_id ${id} not null references blob (id) ${later},
      name text not null,
      purpose ${id} not null,
      extension ${id} not null,
      bytes ${whole} not null,
      sha256 ${id} not null,
      state ${id} not null check (state in ('live', 'deleting')),
      created_at ${whole} not null
    ${end}`,
    'create index file_of_project on file (project_id, id)',
    'create index file_of_blob on file (blob_id)',
    `create index file_to_delete on file (id) where state = 'deleting'`,

    `create table idempotency (
      project_id ${id} not null,
      operation ${id} not null,
      key ${id} not null,
      fingerprint ${id},
      answer text,
      expires_at ${whole} not null,
      created_at ${whole} not null,
      primary key (project_id, operation, key)
    ${end}`,
    'create index idempotency_to_forget on idempotency (expires_at)',

    `create table collection (
      id ${id} primary key not null,
      project_id ${id} not null,
      type ${id} not null,
      name text not null,
      description text not null,
      capacity ${whole} not null,
      embedding_model_id text not null,
      metadata text not null,
      status ${id} not null check (status in ('ready', 'deleting')),
      created_at ${whole} not null,
      updated_at ${whole} not null
    ${end}`,
    'create index collection_of_project on collection (project_id, id)',
    `create index collection_to_delete on collection (id) where status = 'deleting'`,

    `create table record (
      id ${id} primary key not null,
      project_id ${id} not null,
      collection_id ${id} not null references collection (id) ${later},
      type ${id} not null,
      title text not null,
      content text not null,
      metadata text not null,
      file_id ${id},
      url text,
      text_splitter text,
      status ${id} not null,
      stage ${id} not null,
      percent ${whole} not null,
      generation ${whole} not null,
      num_chunks ${whole} not null,
      error_code text,
      error_message text,
      report text,
      attempt ${whole} not null,
      lease_owner ${id},
      lease_until ${whole},
      run_after ${whole} not null,
      deadline_at ${whole} not null,
      created_at ${whole} not null,
      updated_at ${whole} not null
    ${end}`,
    'create index record_of_collection on record (collection_id, id)',
    'create index record_to_claim on record (status, run_after, id)',
    `create index record_to_sweep on record (run_after, id) where stage = 'sweeping'`,
    'create index record_of_file on record (file_id) where file_id is not null',

    `create table chunk (
      seq ${counted},
      id ${id} not null unique,
      project_id ${id} not null,
      collection_id ${id} not null references collection (id) ${later},
      record_id ${id} references record (id) ${later},
      generation ${whole} not null,
      ordinal ${whole} not null,
      content text not null,
      question text,
      answer text,
      num_tokens ${whole} not null,
      metadata text not null,
      locator text,
      created_at ${whole} not null,
      updated_at ${whole} not null
    ${end}`,
    'create index chunk_of_record on chunk (record_id, generation, ordinal)',
    'create index chunk_of_collection on chunk (collection_id, id)',
    'create index chunk_made_directly on chunk (collection_id) where record_id is null',

    `create table full_text (
      collection_id ${id} primary key not null references collection (id) ${later},
      chunks ${whole} not null,
      words ${whole} not null
    ${end}`,
    ...(sqlite ? [] : postgresFullText),
  ];

  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

/** SQLite keeps words in virtual tables instead, see `sqlite-full-text.ts`. */
export const postgresFullText = [
  `create table posting (
    collection_id text collate "C" not null,
    word text collate "C" not null,
    batch bigint not null,
    chunks integer not null,
    ids bigint[] not null,
    repeats smallint[] not null,
    primary key (collection_id, word, batch)
  )`,
  `create table indexed_chunk (
    collection_id text collate "C" not null,
    seq bigint not null,
    batch bigint not null,
    length integer not null,
    words text[] not null,
    primary key (collection_id, seq)
  )`,
];
