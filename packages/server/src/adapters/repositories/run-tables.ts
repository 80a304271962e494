/** A run of a plugin. Primary key (project_id, id). */
export interface RunTable {
  /** `-` where the request carried no key. */
  project_id: string;
  id: string;
  bundle_id: string;
  plugin_id: string | null;
  origin: string;
  isolation: string;
  /** `async`: stored when it was accepted, with a lease; `sync`: when it had ended. */
  mode: 'sync' | 'async';
  created_at: number;
  lease_owner: string | null;
  lease_until: number | null;
  /** 1: somebody wants it cancelled. */
  cancel_asked: number | null;
  /** When a process began it; null: it waits, or is not asynchronous. */
  begun_at: number | null;
  /** null while it is under way. */
  outcome: string | null;
  /** JSON of everything else about its end. */
  detail: string | null;
}

/** What an asynchronous run that has not ended was asked for. Primary key (project_id, run_id). */
export interface RunRequestTable {
  project_id: string;
  run_id: string;
  /** JSON of it, or its seal; null: it may not be kept. */
  request: string | null;
  sealed: number;
  /** 1: running the plugin twice does no more than running it once. */
  repeatable: number;
  /** Processes that have begun it and left it. */
  attempts: number;
}

/** The result of an asynchronous run, until it is forgotten. */
export interface RunResultTable {
  project_id: string;
  run_id: string;
  expires_at: number;
  bytes: number;
  /** JSON of the ExecuteResult. */
  result: string;
}

/** A process that has runs; `run.lease_owner` names it. */
export interface ProcessTable {
  id: string;
  /** Milliseconds since 1970, by the clock of the database. */
  heartbeat_at: number;
}
