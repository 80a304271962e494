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
