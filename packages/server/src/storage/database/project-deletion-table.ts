import type { AuditEvent } from '@quartermaster/contract';
import type { Generated } from 'kysely';

/** Who did what, also in deleted projects. The database refuses changes, and deletions before the end of the retention. */
export interface AuditTables {
  audit_event: Omit<AuditEvent, 'object' | 'audit_event_id' | 'created_timestamp' | 'details'> & {
    id: string;
    at: number;
    /** JSON object. */
    details: string;
  };
}

/**
 * A project that is being deleted or was deleted. The row stays, so that nothing can be added under this id any more. The
 * counts are those of the steps that are done.
 */
export interface ProjectDeletionTable {
  project_id: string;
  name: string;
  begun_at: number;
  ended_at: number | null;
  /** The number of the change that removed keys last. See `KeyChangeTable`. */
  key_change: Generated<number>;
  /** Number of transactions that deleted rows. */
  steps: Generated<number>;
  collections: Generated<number>;
  records: Generated<number>;
  /** All stored chunks, also those that questions could not find any more. */
  chunks: Generated<number>;
  files: Generated<number>;
  artifacts: Generated<number>;
  /** Bytes of the stored contents that were erased. */
  bytes: Generated<number>;
  runs: Generated<number>;
  credential_profiles: Generated<number>;
  keys: Generated<number>;
}
