/** Files with their stored bytes, outputs of plugins, usage, and answers to repeated requests. */
export const fileTables: readonly string[] = [
  `create table blob (
    id $id primary key not null,
    project_id $id not null,
    sha256 $id not null,
    bytes $whole not null,
    state $id not null check (state in ('live', 'deleting')),
    created_at $whole not null,
    damage $id,
    damaged_at $whole
  $end`,
  'create index blob_damaged on blob (id) where damage is not null',
  "create unique index blob_of_content on blob (project_id, sha256) where state = 'live'",
  "create index blob_to_delete on blob (id) where state = 'deleting'",

  `create table verification (
    id $id primary key not null,
    position $id not null,
    pass_started_at $whole not null,
    pass_blobs $whole not null,
    pass_bytes $whole not null,
    finished_at $whole,
    paused $whole not null
  $end`,

  `create table file (
    id $id primary key not null,
    project_id $id not null,
    blob_id $id not null references blob (id) $later,
    name text not null,
    purpose $id not null,
    extension $id not null,
    bytes $whole not null,
    sha256 $id not null,
    state $id not null check (state in ('live', 'deleting')),
    created_at $whole not null
  $end`,
  'create index file_of_blob on file (blob_id)',
  'create index file_of_project on file (project_id, id)',
  "create index file_to_delete on file (id) where state = 'deleting'",

  `create table artifact (
    id $id primary key not null references file (id) on delete cascade,
    project_id $id not null,
    key_id $id,
    run_id $id not null,
    media_type text not null,
    expires_at $whole not null
  $end_without_rowid`,
  'create index artifact_expiring on artifact (expires_at)',
  'create index artifact_of_project on artifact (project_id, id)',

  `create table project_usage (
    project_id $id primary key not null,
    file_bytes $whole not null,
    file_count $whole not null default 0,
    chunk_bytes $whole not null default 0,
    record_bytes $whole not null default 0,
    text_bytes $whole not null default 0
  $end_without_rowid`,

  `create table idempotency (
    project_id $id not null,
    operation $id not null,
    key $id not null,
    caller_id $id not null,
    fingerprint $id,
    answer text,
    expires_at $whole not null,
    created_at $whole not null,
    wrong_requests integer not null default 0,
    answer_bytes integer not null default 0,
    primary key (project_id, operation, key, caller_id)
  $end`,
  'create index idempotency_to_forget on idempotency (expires_at)',

  `create table kept_answer_usage (
    project_id $id primary key not null,
    bytes $whole not null
  $end_without_rowid`,

  `create table answer_key (
    one integer primary key not null check (one = 1),
    secret text not null
  $end`,
];
