import type { VectorRole } from '@quartermaster/contract';
import type { Generated } from 'kysely';

export interface CollectionTable {
  id: string;
  project_id: string;
  type: string;
  name: string;
  description: string;
  capacity: number;
  embedding_model_id: string;
  /** JSON of the defaults of questions; null when there are none. */
  retrieval: string | null;
  metadata: string;
  /** 1 while no chunks are embedded. */
  embedding_paused: Generated<0 | 1>;
  /** JSON of the Chunking; null for the default. */
  chunking: Generated<string | null>;
  /** Grows with each change of `chunking`. */
  chunking_version: Generated<number>;
  /** 1 while records may have chunks of an earlier `chunking`. */
  rechunking: Generated<0 | 1>;
  status: 'ready' | 'deleting';
  created_at: number;
  updated_at: number;
}

/** Each record is also a job. The status `creating` comes with a lease, a deadline and an attempt count. */
export interface RecordTable {
  id: string;
  project_id: string;
  /** The key that last queued the record; empty if unknown. */
  key_id: Generated<string>;
  collection_id: string;
  type: string;
  title: string;
  /** The text as on the wire, or JSON that describes the file or page. */
  content: string;
  metadata: string;
  /** 0 unless metadata changed when chunks could be indexed already: 2 if before the current rebuild, else 1 (ADR 0117). */
  metadata_changed: number;
  /** JSON of generation, ordinal and seq of the last chunk that was indexed again since this change; null for none. */
  metadata_reached: string | null;
  file_id: string | null;
  url: string | null;
  /** JSON of the TextSplitter; null selects the default. */
  text_splitter: string | null;
  /** `skip`, `replace` or `keep`; null when the request did not choose. */
  on_duplicate: string | null;
  /** JSON of the SheetColumns; null when the request named none. */
  sheet_columns: string | null;
  /** The password of the file, encrypted for this record. Null when it has none, and when the work has ended. */
  encrypted_password: string | null;
  status: string;
  stage: string;
  percent: number;
  /** Chunks of this generation are visible. The job writes generation + 1 and then switches to it. */
  generation: number;
  num_chunks: number;
  error_code: string | null;
  error_message: string | null;
  /** JSON of the details of the error; null when it has none. */
  error_details: string | null;
  report: string | null;
  /** JSON of a document that an attempt has read but not yet published; null otherwise. */
  made: string | null;
  /** SQLite: the keys of the next generation's pairs are in `pair_key` up to this ordinal; null while there are none. */
  keyed_to: number | null;
  attempt: number;
  /** The process that works on the record; null when none does. */
  lease_owner: string | null;
  lease_until: number | null;
  /** The earliest time of the next claim (back-off). */
  run_after: number;
  /** The latest time of the first claim. */
  deadline_at: number;
  /** Size of the source in bytes. */
  source_bytes: number;
  /** Order among the waiting records of a key: the time of queueing plus a delay that grows with the size. */
  claim_order: number;
  /** The version of `chunking` that the visible chunks follow, or were examined for. */
  chunking_version: Generated<number>;
  /** The status that the record returns to when the work fails; null unless its chunks are replaced for a new `chunking`. */
  rechunked_from: Generated<string | null>;
  /** Why the record kept its chunks at the last change of `chunking`; null otherwise. */
  chunking_kept: Generated<string | null>;
  /** The status before the deletion, while a deleted record can be restored; null otherwise. Its generation g is then stored as -1 - g. */
  deleted_from: Generated<string | null>;
  /** 1 when a request has changed or deleted a visible chunk. */
  chunks_changed: Generated<0 | 1>;
  /** Bytes of the visible chunks. They remain until a record that is being deleted is removed. */
  stored_bytes: Generated<number>;
  /** Bytes of the chunks of the next generation. A claim resets them, unless the generation is complete. */
  next_bytes: Generated<number>;
  /** Bytes of the stored rows of all generations. */
  row_bytes: Generated<number>;
  /** Total working time of all attempts in milliseconds. */
  worked_ms: number;
  created_at: number;
  updated_at: number;
}

export interface ChunkTable {
  /** The database assigns it. The search index refers to chunks by it. */
  seq: Generated<number>;
  id: string;
  project_id: string;
  collection_id: string;
  record_id: string | null;
  generation: number;
  /** Position within the record, from 0. */
  ordinal: number;
  content: string;
  question: string | null;
  answer: string | null;
  num_tokens: number;
  metadata: string;
  locator: string | null;
  /** Set for chunks of pages that OCR has read: a JSON array of page, left, top, width and height for each line. */
  scan_boxes: string | null;
  /** Set for pairs only. It identifies the same row in another upload. */
  row_key: string | null;
  created_at: number;
  updated_at: number;
}

/** Finds the chunks of pairs by their keys. Pairs of a generation that is not yet visible may be missing. */
export interface PairKeyTable {
  /** See `toPairKey`. */
  key: string;
  /** The chunk's `seq`. */
  seq: number;
}

/** A row of a sheet that produced no chunk. It belongs to a generation, as chunks do. */
export interface RecordRowTable {
  id: string;
  record_id: string;
  collection_id: string;
  generation: number;
  status: 'rejected' | 'duplicate';
  code: string;
  sheet: string | null;
  /** Row number in the sheet, or line number of the CSV record, from 1. */
  place: number;
  column_name: string | null;
  excerpt: string;
  /** JSON of the whole row. */
  fields: string;
}

/**
 * A part of the search index of a collection: chunks that were added, chunks that were removed from the segments before
 * it, or both. `search/segments/segment-format.ts` describes the header and the pages.
 */
export interface IndexSegmentTable {
  /** In SQLite, an id whose transaction is rolled back is given again. */
  id: Generated<number>;
  collection_id: string;
  /**
   * Questions read live segments only. Pages of a `building` one are being written, those of a `retired` one deleted. A
   * `rebuilt` one becomes live when the rebuild of its collection ends.
   */
  state: 'building' | 'live' | 'rebuilt' | 'retired';
  /** The order of the segments of a collection. A new segment has its id; a merged one has the lowest of its parts. */
  position: number;
  chunks: number;
  removals: number;
  /** Number of stored pages. */
  pages: number;
  header: Uint8Array;
  /** The lowest version of the analysis that has produced terms of the segment. See `analysis-version.ts`. */
  analysis: number;
  /**
   * From this time on, a `retired` segment may be deleted, because no question reads it any more. Null means at once. Others
   * have none.
   */
  expires_at: Generated<number | null>;
}

export interface IndexPageTable {
  /** The id of the segment times 2^22, plus the number of the page. */
  id: number;
  data: Uint8Array;
}

/** A collection whose index is being rebuilt from its chunks, in the order of their ids. */
export interface IndexRebuildTable {
  collection_id: string;
  /** The rebuilt segments contain the chunks up to this id; empty at the beginning. */
  reached: string;
  /** Number of chunks that the rebuild has read. */
  chunks: number;
}

/** A set of vectors of a collection: their model, and a change counter for processes that hold the vectors in memory. */
export interface CollectionVectorTable {
  id: string;
  collection_id: string;
  /** The vectors of slot 0 are in `chunk_vector`, those of slot 1 in `second_chunk_vector`. */
  slot: 0 | 1;
  role: VectorRole;
  project_id: string;
  model: string;
  /** 0 until the first vector is stored. */
  dimensions: number;
  /** Vectors up to this change come from an earlier model. */
  first_change: number;
  last_change: number;
  /** Chunks may lack vectors while `done` is less than `wanted`. */
  wanted: number;
  done: number;
  /** The id up to which the current walk over the chunks has come; null when there is no walk. */
  reached: Generated<string | null>;
  /** The value of `wanted` when the walk began. */
  walk: Generated<number>;
  /** Chunks after this id may have lost their vectors since the walk began; null when there are none. */
  restart: Generated<string | null>;
  /** Number of vectors after `first_change`, and of refused texts. Those of replaced chunks count until the sweep. */
  num_embedded: Generated<number>;
  num_refused: Generated<number>;
  /** Tokens of all chunks sent so far, as the provider counted them. */
  num_tokens: Generated<number>;
  /** The last failed attempt, its time and the time of the next; null when no attempt has failed since the last success. */
  error_reason: Generated<string | null>;
  error_at: Generated<number | null>;
  error_retry_at: Generated<number | null>;
  /** The process that embeds the missing chunks, and its attempts. */
  attempt: number;
  lease_owner: string | null;
  lease_until: number | null;
  run_after: number;
}

export interface ChunkVectorTable {
  seq: number;
  collection_id: string;
  change: number;
  /** 32-bit floats; null when the text has no vector. */
  vector: Uint8Array | null;
  /** Why the text has no vector; null for one that has. */
  reason: string | null;
  /** The time of the next attempt; null when there is a vector, or when the model refuses the text. */
  retry_at: number | null;
  /** The failed attempts in a row. */
  failures: Generated<number>;
  /** The chunk's share of the tokens of the requests of its last attempt, as the provider counted them. */
  tokens: Generated<number>;
  /** See `toTextKey`; null when there is no vector. */
  text_key: number | null;
}

/** What the similarities of a collection mean: see `SimilarityScale`. */
export interface SimilarityScaleTable {
  collection_id: string;
  /** The model and the changes of the vectors that were measured. */
  model: string;
  first_change: number;
  last_change: number;
  unrelated: number;
  related: number;
  weight: number;
  share: number;
}

/** The last evaluation of a collection: see `StoredEvaluation`. */
export interface EvaluationTable {
  collection_id: string;
  created_at: number;
  /** JSON. */
  ranks: string;
  /** JSON of the answer; null for an evaluation of an earlier version. */
  result: string | null;
}
