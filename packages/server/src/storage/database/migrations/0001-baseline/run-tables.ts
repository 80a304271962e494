/** Runs of plugins. */
export const runTables: readonly string[] = [
  `create table input_keeper (
    project_id $id primary key not null references project (id)
  $end`,

  // Rows are found by project and id only, so that the table is its own index.
  `create table run (
    project_id $id not null,
    id $id not null,
    bundle_id $id not null,
    plugin_id $id,
    origin $id not null,
    isolation $id not null,
    mode $id not null check (mode in ('sync', 'async')),
    created_at $whole not null,
    lease_owner $id,
    lease_until $whole,
    cancel_asked $whole,
    outcome $id,
    detail text,
    begun_at $whole,
    primary key (project_id, id)
  $end_without_rowid`,
  // Most runs succeed. The index covers the others, which operators search for.
  "create index run_not_succeeded on run (project_id, outcome, id) where outcome <> 'succeeded'",
  'create index run_of_bundle on run (project_id, bundle_id, id)',
  'create index run_under_way on run (lease_until) where outcome is null',

  `create table run_request (
    project_id $id not null,
    run_id $id not null,
    key_id $id,
    request text,
    sealed $whole not null,
    repeatable $whole not null,
    attempts $whole not null,
    primary key (project_id, run_id)
  $end_without_rowid`,

  `create table run_result (
    project_id $id not null,
    run_id $id not null,
    expires_at $whole not null,
    bytes $whole not null,
    result text not null,
    primary key (project_id, run_id)
  $end`,
  'create index run_result_by_age on run_result (expires_at, bytes)',
];
