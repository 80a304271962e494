/** Collections, records and chunks. */
export const collectionTables: readonly string[] = [
  `create table collection (
    id $id primary key not null,
    project_id $id not null,
    type $id not null,
    name text not null,
    description text not null,
    capacity $whole not null,
    embedding_model_id text not null,
    metadata text not null,
    status $id not null check (status in ('ready', 'deleting')),
    created_at $whole not null,
    updated_at $whole not null,
    retrieval text,
    embedding_paused integer not null default 0,
    chunking text,
    chunking_version integer not null default 0,
    rechunking integer not null default 0
  $end`,
  'create index collection_of_project on collection (project_id, id)',
  "create index collection_to_delete on collection (id) where status = 'deleting'",
  'create index collection_to_rechunk on collection (id) where rechunking = 1',

  `create table record (
    id $id primary key not null,
    project_id $id not null,
    collection_id $id not null references collection (id) $later,
    type $id not null,
    title text not null,
    content text not null,
    metadata text not null,
    file_id $id,
    url text,
    text_splitter text,
    status $id not null,
    stage $id not null,
    percent $whole not null,
    generation $whole not null,
    num_chunks $whole not null,
    error_code text,
    error_message text,
    report text,
    attempt $whole not null,
    lease_owner $id,
    lease_until $whole,
    run_after $whole not null,
    deadline_at $whole not null,
    created_at $whole not null,
    updated_at $whole not null,
    on_duplicate text,
    made text,
    keyed_to $whole,
    worked_ms $whole not null default 0,
    source_bytes $whole not null default 0,
    claim_order $whole not null default 0,
    metadata_changed $whole not null default 0,
    metadata_reached text,
    sheet_columns text,
    error_details text,
    chunking_version integer not null default 0,
    rechunked_from text,
    chunking_kept text,
    chunks_changed integer not null default 0,
    encrypted_password text,
    stored_bytes $whole not null default 0,
    next_bytes $whole not null default 0,
    row_bytes $whole not null default 0,
    key_id $id not null default ''
  $end`,
  'create index record_being_rechunked on record (collection_id) where rechunked_from is not null',
  'create index record_in_work on record (lease_until, project_id) where lease_owner is not null',
  'create index record_of_changed_metadata on record (collection_id, id) where metadata_changed > 0',
  'create index record_of_chunking on record (collection_id, chunking_version, id)',
  'create index record_of_collection on record (collection_id, id)',
  'create index record_of_file on record (file_id) where file_id is not null',
  'create index record_of_status on record (collection_id, status, id)',
  "create index record_of_turn on record (project_id, key_id, claim_order, id) where status = 'creating'",
  'create index record_to_claim on record (status, run_after, id)',
  "create index record_to_sweep on record (run_after, id) where stage = 'sweeping'",

  `create table record_row (
    id $id primary key not null,
    record_id $id not null references record (id) $later,
    collection_id $id not null,
    generation $whole not null,
    status $id not null check (status in ('rejected', 'duplicate')),
    code text not null,
    sheet text,
    place $whole not null,
    column_name text,
    excerpt text not null,
    fields text not null
  $end`,
  'create index record_row_of_collection on record_row (collection_id)',
  'create index record_row_of_record on record_row (record_id, generation, status, id)',

  `create table record_turn (
    id $whole primary key not null,
    project_id $id not null
  $end`,
  "insert into record_turn (id, project_id) values (1, '')",

  `create table record_key_turn (
    project_id $id primary key not null,
    key_id $id not null
  $end`,

  `create table chunk (
    seq $counter,
    id $id not null,
    project_id $id not null,
    collection_id $id not null references collection (id) $later,
    record_id $id references record (id) $later,
    generation $whole not null,
    ordinal $whole not null,
    content text not null,
    question text,
    answer text,
    num_tokens $whole not null,
    metadata text not null,
    locator text,
    created_at $whole not null,
    updated_at $whole not null,
    row_key $id,
    scan_boxes text
  $end`,
  'create index chunk_made_directly on chunk (collection_id) where record_id is null',
  // Every query that names a chunk also names its collection, so that the id needs no index of its own.
  'create unique index chunk_of_collection on chunk (collection_id, id)',
  'create index chunk_of_record on chunk (record_id, generation, ordinal)',

  `create table pair_key (
    key $id not null,
    seq $whole not null,
    primary key (key, seq)
  $end_without_rowid`,
];

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
