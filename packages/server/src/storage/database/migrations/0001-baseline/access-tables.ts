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
