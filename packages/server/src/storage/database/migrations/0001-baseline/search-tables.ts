/** The search index and the vectors of chunks. */
export const searchTables: readonly string[] = [
  `create table index_segment (
    id $counter,
    collection_id $id not null,
    state $id not null,
    position $whole not null,
    chunks $whole not null,
    removals $whole not null,
    pages $whole not null,
    analysis $whole not null,
    expires_at $whole,
    header $bytes not null
  $end`,
  'create index index_segment_of_analysis on index_segment (analysis, collection_id)',
  'create index index_segment_of_collection on index_segment (collection_id, state, position)',

  `create table index_page (
    id $whole primary key not null,
    data $bytes not null
  $end`,

  `create table index_rebuild (
    collection_id $id primary key not null,
    reached $id not null,
    chunks $whole not null
  $end`,

  `create table collection_vector (
    id $id primary key not null,
    collection_id $id not null references collection (id) on delete cascade,
    slot $whole not null,
    role text not null,
    project_id $id not null,
    model text not null,
    dimensions $whole not null,
    first_change $whole not null,
    last_change $whole not null,
    wanted $whole not null,
    done $whole not null,
    reached $id,
    walk $whole not null default 0,
    restart $id,
    attempt $whole not null,
    lease_owner $id,
    lease_until $whole,
    run_after $whole not null,
    num_embedded $whole not null default 0,
    num_refused $whole not null default 0,
    num_tokens $whole not null default 0,
    error_reason text,
    error_at $whole,
    error_retry_at $whole,
    unique (collection_id, slot)
  $end`,
  'create index collection_vector_behind on collection_vector (run_after) where wanted > done',
  'create index collection_vector_of_project on collection_vector (project_id, run_after) where wanted > done',

  `create table chunk_vector (
    seq $whole primary key not null references chunk (seq) on delete cascade,
    collection_id $id not null,
    change $whole not null,
    vector $bytes,
    reason text,
    retry_at $whole,
    failures $whole not null default 0,
    tokens $whole not null default 0,
    text_key $whole
  $end`,
  'create index chunk_vector_of_change on chunk_vector (collection_id, change, seq)',
  'create index chunk_vector_of_text on chunk_vector (text_key) where text_key is not null',
  'create index chunk_vector_refused on chunk_vector (collection_id, change, seq) where vector is null',
  'create index chunk_vector_retry on chunk_vector (retry_at) where retry_at is not null',

  `create table second_chunk_vector (
    seq $whole primary key not null references chunk (seq) on delete cascade,
    collection_id $id not null,
    change $whole not null,
    vector $bytes,
    reason text,
    retry_at $whole,
    failures $whole not null default 0,
    tokens $whole not null default 0,
    text_key $whole
  $end`,
  'create index second_chunk_vector_of_change on second_chunk_vector (collection_id, change, seq)',
  'create index second_chunk_vector_of_text on second_chunk_vector (text_key) where text_key is not null',
  'create index second_chunk_vector_refused on second_chunk_vector (collection_id, change, seq) where vector is null',
  'create index second_chunk_vector_retry on second_chunk_vector (retry_at) where retry_at is not null',

  `create table similarity_scale (
    collection_id $id primary key not null references collection (id) on delete cascade,
    model text not null,
    first_change $whole not null,
    last_change $whole not null,
    unrelated $real not null,
    related $real not null,
    weight $real not null,
    share $real not null
  $end`,
];
