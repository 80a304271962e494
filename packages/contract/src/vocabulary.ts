/** The values of closed lists in the API. Code that needs no schemas can import them without TypeBox. */

export const collectionTypes = ['text', 'qa'] as const;
export type CollectionType = (typeof collectionTypes)[number];
export const recordTypes = ['text', 'file', 'web', 'qa_sheet'] as const;
export type RecordType = (typeof recordTypes)[number];
export const recordStatuses = ['creating', 'ready', 'partial', 'error', 'deleting'] as const;
export type RecordStatus = (typeof recordStatuses)[number];
export const recordStages = [
  ...(['queued', 'fetching', 'parsing', 'chunking', 'indexing'] as const),
  // The disk is nearly full; the record continues when there is space.
  'waiting_for_disk',
] as const;
export type RecordStage = (typeof recordStages)[number];

/** How an import treats a pair that already exists in the collection or in the sheet. */
export const duplicatePolicies = ['skip', 'replace', 'keep'] as const;
export type OnDuplicate = (typeof duplicatePolicies)[number];
/** The rows of a sheet that were not stored as a pair. */
export const rowStatuses = ['rejected', 'duplicate'] as const;
export type RowStatus = (typeof rowStatuses)[number];

/** Whether vector search covers the chunks. */
export const vectorStates = ['off', 'current', 'catching_up', 'other_model'] as const;
export type VectorState = (typeof vectorStates)[number];

/** What a set of vectors of a collection is for: it answers questions, is being built, or is kept for a return to it. */
export const vectorRoles = ['live', 'next', 'kept'] as const;
export type VectorRole = (typeof vectorRoles)[number];

/** The rankings that can answer a question about chunks. */
export const rankings = ['words', 'vectors', 'fused'] as const;
export type Ranking = (typeof rankings)[number];
/** Why words alone answered a question. */
export const wordsReasons = [
  'requested',
  'no_embedder',
  'collection_not_embedded',
  'not_measured',
  'other_model',
  'other_dimensions',
  'provider_unavailable',
  'index_not_built',
] as const;
export type WordsReason = (typeof wordsReasons)[number];

/** Whether the reranking service sorted an answer. */
export const rerankings = ['off', 'applied', 'unavailable', 'not_configured'] as const;
export type Reranking = (typeof rerankings)[number];

/** How a run was requested. `verify` is a check of credentials, `options` a request for the values of an input. */
export const runOrigins = ['execute', 'direct', 'mcp', 'verify', 'options'] as const;
export type RunOrigin = (typeof runOrigins)[number];

/** The outcomes of a run. All except `succeeded` have an error code. */
export const runOutcomes = [
  'succeeded',
  'input_rejected',
  'upstream_failed',
  'upstream_rejected',
  'upstream_rate_limited',
  'credentials_rejected',
  'egress_refused',
  'timed_out',
  'failed',
  'crashed',
  'out_of_memory',
  'queue_full',
  'cancelled',
  'interrupted',
] as const;
export type RunOutcome = (typeof runOutcomes)[number];

export const runStatuses = ['queued', 'running', 'ended'] as const;
export type RunStatus = (typeof runStatuses)[number];

/** The member of `credentials` that names a credential profile instead of holding credentials. */
export const profileMember = '$profile';
/** The member of `credentials` that names a connection of an end user. */
export const connectionMember = '$connection';
export const connectionStatuses = ['pending', 'active', 'reconnect_required', 'misconfigured'] as const;
export type ConnectionStatus = (typeof connectionStatuses)[number];
