/** Projects, keys, credential profiles, and the administrators of the console. */
export const accessTables: readonly string[] = [
  `create table project (
    id $id primary key not null,
    name text not null unique,
    created_at $whole not null
  $end`,

  `create table api_key (
    id $id primary key not null,
    project_id $id not null references project (id) $later,
    name text not null,
    hash $id not null unique,
    hint text not null,
    scopes text not null,
    created_at $whole not null,
    expires_at $whole,
    revoked_at $whole,
    last_used_at $whole,
    maker_id $id,
    change $whole not null default 0,
    tools text
  $end`,
  'create index api_key_changed on api_key (change)',
  'create index api_key_of_maker on api_key (maker_id) where maker_id is not null',
  'create index api_key_of_project on api_key (project_id, id)',

  `create table key_change (
    one integer primary key not null check (one = 1),
    number $whole not null
  $end`,
  'insert into key_change (one, number) values (1, 0)',

  `create table credential_profile (
    id $id primary key not null,
    project_id $id not null references project (id) $later,
    bundle_id $id not null,
    name $id not null,
    sealed text not null,
    key_id $id not null,
    created_at $whole not null,
    updated_at $whole not null,
    refresh_claim text,
    refresh_claimed_until $whole,
    unique (project_id, name)
  $end`,
  'create index credential_profile_of_key on credential_profile (key_id, id)',
  'create index credential_profile_of_project on credential_profile (project_id, id)',

  `create table administrator (
    id $id primary key not null,
    name text not null unique,
    password_hash text not null,
    browser_secret text not null,
    created_at $whole not null,
    updated_at $whole not null
  $end`,

  `create table session (
    hash $id primary key not null,
    administrator_id $id not null references administrator (id),
    created_at $whole not null,
    last_used_at $whole not null,
    expires_at $whole not null,
    console_hash text not null,
    id $id not null,
    client_address text not null,
    user_agent text not null
  $end`,
  'create index session_of_administrator on session (administrator_id)',

  `create table set_up_token (
    id $whole primary key not null check (id = 1),
    hash $id not null,
    expires_at $whole not null
  $end`,

  `create table attempt_counter (
    bucket $id primary key not null,
    window_start $whole not null,
    failures $whole not null,
    retry_at $whole not null
  $end`,
];

/** The identity of the store and the processes that serve it. */
export const serviceTables: readonly string[] = [
  // One row. It names the data folder and the encryption key that belong to the database.
  `create table store (
    one integer primary key not null check (one = 1),
    id text not null,
    folder_id text,
    encryption_key_id text
  $end`,

  `create table node (
    id $id primary key not null,
    serves text not null,
    host text not null,
    version text not null,
    folder_instance text not null,
    started_at $whole not null,
    heartbeat_at $whole not null,
    stopped_at $whole
  $end_without_rowid`,

  `create table process (
    id $id primary key not null,
    heartbeat_at $whole not null
  $end_without_rowid`,

  // One row. Changing it proves that commits succeed.
  `create table commit_check (
    id $whole primary key not null,
    checks $whole not null
  $end_without_rowid`,
  'insert into commit_check (id, checks) values (1, 0)',
];

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
