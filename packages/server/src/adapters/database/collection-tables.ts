import type { Generated } from 'kysely';

export interface CollectionTable {
  id: string;
  project_id: string;
  type: string;
  name: string;
  description: string;
  capacity: number;
  embedding_model_id: string;
  metadata: string;
  status: 'ready' | 'deleting';
  created_at: number;
  updated_at: number;
}

/** A record is its own job: `status` creating with a lease, a deadline and an attempt count. */
export interface RecordTable {
  id: string;
  project_id: string;
  collection_id: string;
  type: string;
  title: string;
  /** As on the wire: the text, or the JSON text that describes file or page. */
  content: string;
  metadata: string;
  file_id: string | null;
  url: string | null;
  /** JSON of the TextSplitter, null for the default. */
  text_splitter: string | null;
  /** `skip`, `replace` or `keep`; null when the request did not choose. */
  on_duplicate: string | null;
  status: string;
  stage: string;
  percent: number;
  /** Chunks of this generation are the visible ones; the job writes generation + 1 and then switches. */
  generation: number;
  num_chunks: number;
  error_code: string | null;
  error_message: string | null;
  report: string | null;
  /** JSON of a document that a try has read and not yet published; null otherwise. */
  made: string | null;
  /** Ordinal up to which the keys of the next generation's pairs are entered in `pair_key`; null while it has none. */
  keyed_to: number | null;
  attempt: number;
  /** The process that works on it; null when none does. */
  lease_owner: string | null;
  lease_until: number | null;
  /** Not before this time (back-off). */
  run_after: number;
  /** Latest time of its first claim. */
  deadline_at: number;
  /** Size of the source to read. */
  source_bytes: number;
  /** Order among the waiting records of its project: the time when it was queued, plus a delay that grows with its size. */
  claim_order: number;
  /** Milliseconds that all tries together have worked on it. */
  worked_ms: number;
  created_at: number;
  updated_at: number;
}

/** One row: its id is 1. */
export interface RecordTurnTable {
  id: number;
  /** The project whose record was claimed last; empty before the first claim. */
  project_id: string;
}

export interface ChunkTable {
  /** Assigned by the database; the row id of the full-text index. */
  seq: Generated<number>;
  id: string;
  project_id: string;
  collection_id: string;
  record_id: string | null;
  generation: number;
  /** Place within the record, from 0. */
  ordinal: number;
  content: string;
  question: string | null;
  answer: string | null;
  num_tokens: number;
  metadata: string;
  locator: string | null;
  /** Of a pair: identifies the same row in another upload. */
  row_key: string | null;
  created_at: number;
  updated_at: number;
}

/** The places of pairs with a key. Pairs of a generation that is not visible yet may be missing. */
export interface PairKeyTable {
  /** See `toPairKey`. */
  key: string;
  /** Of the chunk. */
  seq: number;
}

/** A row of a sheet that became no chunk; belongs to a generation as chunks do. */
export interface RecordRowTable {
  id: string;
  record_id: string;
  collection_id: string;
  generation: number;
  status: 'rejected' | 'duplicate';
  code: string;
  sheet: string | null;
  /** Row of the sheet, or line of the CSV record, from 1. */
  place: number;
  column_name: string | null;
  excerpt: string;
  /** JSON of the whole row. */
  fields: string;
}

/** Size of a collection's full-text index; the adapters of `FullText` create the index itself. */
export interface FullTextTable {
  collection_id: string;
  chunks: number;
  /** Words in all of them, repeats counted. */
  words: number;
}

/** SQLite only: which words of the shared indexes belong to a collection. */
export interface FullTextPlaceTable {
  /** Never reused. */
  number: Generated<number>;
  collection_id: string;
  /** While it is dropped: chunks up to this id have left the index. */
  cleared_to: string | null;
}

/** The vectors of a collection: one model, and a counter of changes for processes that hold the vectors in memory. */
export interface CollectionVectorTable {
  collection_id: string;
  model: string;
  /** 0 until the first vector. */
  dimensions: number;
  /** Vectors up to this change are of an earlier model. */
  first_change: number;
  last_change: number;
  /** Chunks may lack vectors while `done` is less. */
  wanted: number;
  done: number;
  /** The process that embeds the missing chunks. */
  attempt: number;
  lease_owner: string | null;
  lease_until: number | null;
  run_after: number;
}

export interface ChunkVectorTable {
  seq: number;
  collection_id: string;
  change: number;
  /** One bit a dimension; null with the vector. */
  code: Uint8Array | null;
  /** 32-bit floats; null where the model refuses the text. */
  vector: Uint8Array | null;
}
