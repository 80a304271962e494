import type { Generated } from 'kysely';
import type { ProcessTable, RunRequestTable, RunResultTable, RunTable } from '../repositories/run-tables.ts';
import type {
  ChunkTable,
  ChunkVectorTable,
  CollectionTable,
  CollectionVectorTable,
  FullTextPlaceTable,
  FullTextTable,
  PairKeyTable,
  RecordRowTable,
  RecordTable,
  RecordTurnTable,
} from './collection-tables.ts';
import type { CredentialProfileTable } from './credential-profile-table.ts';

/**
 * The tables, alike in SQLite and PostgreSQL. Ids are text, times are milliseconds (bigint), booleans do not occur,
 * JSON is text that only we read. Every row of a project carries its `project_id`.
 */
export interface Tables {
  store: StoreTable;
  project: ProjectTable;
  api_key: KeyTable;
  key_change: KeyChangeTable;
  blob: BlobTable;
  verification: VerificationTable;
  file: FileTable;
  project_usage: ProjectUsageTable;
  idempotency: IdempotencyTable;
  kept_answer_usage: KeptAnswerUsageTable;
  answer_key: AnswerKeyTable;
  credential_profile: CredentialProfileTable;
  collection: CollectionTable;
  record: RecordTable;
  record_row: RecordRowTable;
  record_turn: RecordTurnTable;
  chunk: ChunkTable;
  pair_key: PairKeyTable;
  full_text: FullTextTable;
  full_text_place: FullTextPlaceTable;
  administrator: AdministratorTable;
  session: SessionTable;
  set_up_token: SetUpTokenTable;
  attempt_counter: AttemptCounterTable;
  input_keeper: InputKeeperTable;
  run: RunTable;
  run_request: RunRequestTable;
  run_result: RunResultTable;
  collection_vector: CollectionVectorTable;
  chunk_vector: ChunkVectorTable;
  process: ProcessTable;
  commit_check: CommitCheckTable;
}

/** One row: its `one` is 1. */
export interface StoreTable {
  one: number;
  id: string;
  /** The data folder of the store; null until a process that serves files has started. */
  folder_id: string | null;
  /** The key that encrypts credentials; null until a process had one. */
  encryption_key_id: string | null;
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
  /** SHA-256 of the key, hexadecimal; the key itself is stored nowhere. Unique. */
  hash: string;
  /** Last four characters, for people to tell keys apart. */
  hint: string;
  /** JSON array. */
  scopes: string;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
  /** The key that created it; null: an administrator or a command. */
  maker_id: string | null;
  /** The number of its last change other than a use. */
  change: Generated<number>;
}

/** One row. Every change of keys takes the next number and holds the row until its commit. */
export interface KeyChangeTable {
  one: number;
  number: number;
}

/** Bytes kept once per project. Unique (project_id, sha256) among those that are `live`. */
export interface BlobTable {
  id: string;
  project_id: string;
  sha256: string;
  bytes: number;
  state: 'live' | 'deleting';
  created_at: number;
  /** Set while the stored bytes are known to be wrong: see `BlobDamage`. */
  damage: string | null;
  damaged_at: number | null;
}

/** One row: the background verification of all blobs. */
export interface VerificationTable {
  id: 'blobs';
  /** The last blob read of this pass. */
  position: string;
  pass_started_at: number;
  pass_blobs: number;
  pass_bytes: number;
  /** When a pass last ended. */
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
}

/** Changed with the rows it counts, in the same transaction. A project without a row has no files yet. */
export interface ProjectUsageTable {
  project_id: string;
  /** Of its live files. */
  file_bytes: number;
  /** The number of its live files. */
  file_count: number;
}

/** One row a remembered or running request. Primary key (project_id, operation, key). */
export interface IdempotencyTable {
  /** `-` where the request carried no key. */
  project_id: string;
  /** `upload` or `execute`. */
  operation: string;
  key: string;
  fingerprint: string | null;
  /** JSON of the answer; null while the request runs. */
  answer: string | null;
  /** While it runs: a crashed owner's claim ends here. Afterwards: when the answer is forgotten. */
  expires_at: number;
  created_at: number;
  /** The API key or administrator that sent the request; empty without one. */
  caller_id: Generated<string>;
  /** Wrong repetitions that the same caller sent, and those of others. */
  wrong_of_caller: Generated<number>;
  wrong_of_others: Generated<number>;
  /** What the row adds to the sum of its project: of a run that answered at once, and 0 otherwise. */
  answer_bytes: Generated<number>;
}

/** Changed with the rows of `idempotency` in the same transaction: the sum of their `answer_bytes`. */
export interface KeptAnswerUsageTable {
  project_id: string;
  bytes: number;
}

/** One row at most: the secret of the keyed hashes of a store without an encryption key. Backups leave the row out. */
export interface AnswerKeyTable {
  one: number;
  secret: string;
}

export interface AdministratorTable {
  id: string;
  /** Unique. */
  name: string;
  /** PHC form. */
  password_hash: string;
  browser_secret: string;
  created_at: number;
  updated_at: number;
}

export interface SessionTable {
  /** SHA-256 of the token, hexadecimal; the token itself is stored nowhere. */
  hash: string;
  /** SHA-256 of the console's token. Empty when an earlier version began the session: it is refused. */
  console_hash: string;
  administrator_id: string;
  created_at: number;
  last_used_at: number;
  expires_at: number;
  /** Names the session in lists. Empty when an earlier version began it. */
  id: string;
  client_address: string;
  user_agent: string;
}

/** One row at most: its id is 1. */
export interface SetUpTokenTable {
  id: number;
  hash: string;
  expires_at: number;
}

export interface AttemptCounterTable {
  /** Kind and name, such as `address 127.0.0.1`. */
  bucket: string;
  window_start: number;
  failures: number;
  retry_at: number;
}

/** A project whose run records hold inputs, scrubbed. */
export interface InputKeeperTable {
  project_id: string;
}

/** One row, whose change proves that commits succeed. */
export interface CommitCheckTable {
  id: 1;
  checks: number;
}
