import type { Generated } from 'kysely';
import type { AccountTables } from './account-tables.ts';
import type {
  ChunkTable,
  ChunkVectorTable,
  CollectionTable,
  CollectionVectorTable,
  EvaluationTable,
  IndexPageTable,
  IndexRebuildTable,
  IndexSegmentTable,
  PairKeyTable,
  RecordRowTable,
  RecordTable,
  SimilarityScaleTable,
} from './collection-tables.ts';
import type { OauthTables } from './oauth-tables.ts';
import type { AuditTables, ProjectDeletionTable } from './project-deletion-table.ts';
import type { RateTables } from './rate-tables.ts';
import type { ProcessTable, RunRequestTable, RunResultTable, RunTable } from './run-tables.ts';

/**
 * The tables, alike in SQLite and PostgreSQL. Ids are text and times are milliseconds (bigint). There are no booleans.
 * JSON is stored as text, and only the service reads it. Every row of a project has its `project_id`.
 */
export interface Tables extends AccountTables, AuditTables, OauthTables, RateTables {
  store: StoreTable;
  project: ProjectTable;
  project_deletion: ProjectDeletionTable;
  api_key: KeyTable;
  key_change: KeyChangeTable;
  blob: BlobTable;
  blob_intent: BlobIntentTable;
  verification: VerificationTable;
  file: FileTable;
  artifact: ArtifactTable;
  bundle_archive: BundleArchiveTable;
  /** The publishers whose signed archives are installed without a question: the public key, and the name that an operator gave. */
  trusted_publisher: { key: string; name: string };
  project_usage: ProjectUsageTable;
  idempotency: IdempotencyTable;
  kept_answer_usage: KeptAnswerUsageTable;
  answer_key: AnswerKeyTable;
  collection: CollectionTable;
  record: RecordTable;
  record_row: RecordRowTable;
  /** One row, with id 1: the project whose record was claimed last; empty before the first claim. */
  record_turn: { id: number; project_id: string };
  /** The key of each project whose record was claimed last. */
  record_key_turn: { project_id: string; key_id: string };
  chunk: ChunkTable;
  pair_key: PairKeyTable;
  index_segment: IndexSegmentTable;
  index_page: IndexPageTable;
  index_rebuild: IndexRebuildTable;
  set_up_token: SetUpTokenTable;
  attempt_counter: AttemptCounterTable;
  input_keeper: InputKeeperTable;
  run: RunTable;
  run_request: RunRequestTable;
  run_result: RunResultTable;
  collection_vector: CollectionVectorTable;
  chunk_vector: ChunkVectorTable;
  second_chunk_vector: ChunkVectorTable;
  similarity_scale: SimilarityScaleTable;
  evaluation: EvaluationTable;
  process: ProcessTable;
  commit_check: CommitCheckTable;
  node: NodeTable;
  task_leader: TaskLeaderTable;
}

/** The table has one row, in which `one` is 1. */
export interface StoreTable {
  one: number;
  id: string;
  /** The data folder of the store; null until a process that serves files starts. */
  folder_id: string | null;
  /** The key that encrypts credentials; null until a process with a key starts. */
  encryption_key_id: string | null;
  /** The id of the object storage with the content; null while the data folder has it. */
  blobs_id: string | null;
  /** Where the object storage was at the last start, for error messages. */
  blobs_place: string | null;
}

/** A process of the store, or the one that served its data folder last. */
export interface NodeTable {
  id: string;
  serves: string;
  host: string;
  version: string;
  /** Identifies the data folder on its machine. A copy of the folder has another id. Empty when others may run beside it. */
  folder_instance: string;
  /** The URL on which the process listens; empty while it starts. */
  address: string;
  /** JSON. */
  capabilities: string;
  /** JSON: what must agree with other nodes. */
  settings: string;
  /** Milliseconds since 1970, by the clock of the database. */
  started_at: number;
  heartbeat_at: number;
  stopped_at: number | null;
}

/** The node that performs a periodic task. Another one takes over when that node has ended. */
export interface TaskLeaderTable {
  /** The name of the task. */
  task: string;
  node_id: string;
}

export interface ProjectTable {
  id: string;
  /** Unique. */
  name: string;
  created_at: number;
}

export interface KeyTable {
  id: string;
  project_id: string;
  name: string;
  /** SHA-256 of the key, hexadecimal. The key itself is not stored. Unique. */
  hash: string;
  /** The last four characters, by which people distinguish keys. */
  hint: string;
  /** JSON array. */
  scopes: string;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
  /** The key that created this key; null when an administrator or a command created it. */
  maker_id: string | null;
  /** JSON array of collection ids; null: every collection. */
  collections: string | null;
  /** JSON array of bundle ids and `bundle_id/plugin_id`; null: every plugin. */
  tools: string | null;
  /** JSON array of the ids of keys; null when the key replaced none. */
  replaced: string | null;
  /** The number of the last change; using the key does not count as a change. */
  change: Generated<number>;
}

/** The table has one row. Every change of keys takes the next number and locks the row until its commit. */
export interface KeyChangeTable {
  one: number;
  number: number;
}

/** Stored bytes, once per project and content. Unique: (project_id, sha256) among `live` rows. */
export interface BlobTable {
  id: string;
  project_id: string;
  sha256: string;
  bytes: number;
  state: 'live' | 'deleting';
  created_at: number;
  /** Set while the stored bytes are known to be damaged: see `BlobDamage`. */
  damage: string | null;
  damaged_at: number | null;
}

/** A blob in object storage that may have no row, because its upload has not ended. */
export interface BlobIntentTable {
  blob_id: string;
  state: 'open' | 'abandoned' | 'erased' | 'deleted';
  changed_at: number;
}

/** The table has one row, about the background verification of all blobs. */
export interface VerificationTable {
  id: 'blobs';
  /** The last blob that this pass has read. */
  position: string;
  pass_started_at: number;
  pass_blobs: number;
  pass_bytes: number;
  /** The end of the last complete pass. */
  finished_at: number | null;
  paused: number;
}

export interface FileTable {
  id: string;
  project_id: string;
  blob_id: string;
  name: string;
  purpose: string;
  extension: string;
  bytes: number;
  sha256: string;
  state: 'live' | 'deleting';
  created_at: number;
  /** The key that uploaded it, if the key is limited to collections; null otherwise. */
  uploader_id: string | null;
}

/** The additional columns of a stored plugin output. Its row in `file` has the same id and the purpose `artifact`. */
export interface ArtifactTable {
  id: string;
  project_id: string;
  /** null when the caller had no key. */
  key_id: string | null;
  run_id: string;
  media_type: string;
  expires_at: number;
}

/** The archive of a bundle from a package. Its row in `file` has the same id, no project and the purpose `bundle`. */
export interface BundleArchiveTable {
  id: string;
  bundle_id: string;
  /** JSON: `PackageFacts`. */
  facts: string;
  /** The end of a plan; null for an installed bundle, which is the newest of its `bundle_id`. */
  expires_at: number | null;
}

/** Changes with the rows that it counts, in the same transaction. A project without a row has no files yet. */
export interface ProjectUsageTable {
  project_id: string;
  /** Total bytes of the project's live files. */
  file_bytes: number;
  /** The number of the project's live files. */
  file_count: number;
  /** Total bytes of the project's chunks without a record. */
  chunk_bytes: Generated<number>;
  /** Total `stored_bytes` and `row_bytes` of the project's records, and the bytes of their own texts. */
  record_bytes: Generated<number>;
  /** Total bytes of the texts of the project's collections, and of the names of its live files. */
  text_bytes: Generated<number>;
}

/** One row for each remembered or running request. Primary key (project_id, operation, key, caller_id). */
export interface IdempotencyTable {
  /** Text of `projectText`. */
  project_id: string;
  /** `upload` or `execute`. */
  operation: string;
  key: string;
  fingerprint: string | null;
  /** JSON of the answer; null while the request runs. */
  answer: string | null;
  /**
   * While the request runs, the claim of a crashed process ends here. Afterwards, the answer is deleted at this time.
   */
  expires_at: number;
  created_at: number;
  /** The API key or administrator that sent the request; empty without a caller. */
  caller_id: string;
  /** The number of wrong repetitions. */
  wrong_requests: Generated<number>;
  /** The node that runs or ran the request; null for a process without a row. */
  node_id: string | null;
  /** 0 when the request must not run a second time. */
  repeatable: Generated<number>;
  /** The bytes that the row adds to its project's sum: those of the answer of a synchronous run, otherwise 0. */
  answer_bytes: Generated<number>;
}

/** The sum of `answer_bytes` of a project. It changes with the rows of `idempotency` in the same transaction. */
export interface KeptAnswerUsageTable {
  project_id: string;
  bytes: number;
}

/** At most one row: the secret of the keyed hashes of a store without an encryption key. Backups omit the row. */
export interface AnswerKeyTable {
  one: number;
  secret: string;
}

/** The table has at most one row, with id 1. */
export interface SetUpTokenTable {
  id: number;
  hash: string;
  expires_at: number;
}

export interface AttemptCounterTable {
  /** Kind and name, for example `address 127.0.0.1`. */
  bucket: string;
  window_start: number;
  failures: number;
  retry_at: number;
}

/** A project whose run records contain redacted inputs. */
export interface InputKeeperTable {
  project_id: string;
}

/** The table has one row. Changing it proves that commits succeed. */
export interface CommitCheckTable {
  id: 1;
  checks: number;
}
