/** A run of a plugin. Primary key (project_id, id). */
export interface RunTable {
  /** Text of `projectText`. */
  project_id: string;
  id: string;
  bundle_id: string;
  plugin_id: string | null;
  origin: string;
  isolation: string;
  /** `async`: the run was stored with a lease when it was accepted. `sync`: it was stored when it had ended. */
  mode: 'sync' | 'async';
  created_at: number;
  lease_owner: string | null;
  lease_until: number | null;
  /** 1 when the run is to be cancelled. */
  cancel_asked: number | null;
  /** The time when a process began it; null while it waits, and for synchronous runs. */
  begun_at: number | null;
  /** Null while the run is in progress. */
  outcome: string | null;
  /** JSON of the remaining details of its end. */
  detail: string | null;
}

/** The request of an asynchronous run that has not ended. Primary key (project_id, run_id). */
export interface RunRequestTable {
  project_id: string;
  run_id: string;
  /** The key that sent the request; null without a key. */
  key_id: string | null;
  /** JSON of the request, in clear or encrypted; null when it may not be stored. */
  request: string | null;
  sealed: number;
  /** 1 when running the plugin twice has the same effect as running it once. */
  repeatable: number;
  /** Number of processes that began the run and did not end it. */
  attempts: number;
}

/** The result of an asynchronous run, until it is deleted. */
export interface RunResultTable {
  project_id: string;
  run_id: string;
  expires_at: number;
  bytes: number;
  /** JSON of the ExecuteResult. */
  result: string;
}

/** A process with runs. `run.lease_owner` contains its id. */
export interface ProcessTable {
  id: string;
  /** Milliseconds since 1970, by the clock of the database. */
  heartbeat_at: number;
}
