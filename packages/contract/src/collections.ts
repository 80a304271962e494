import { type Static, Type } from 'typebox';
import { RetrievalDefaults } from './chunk-query.ts';
import { Chunking, Rechunking } from './chunking.ts';
import { Locator } from './citations.ts';
import { RecordEmbedding, vectorFields } from './embedding.ts';
import { ListQuery, Timestamp } from './envelope.ts';
import { MapOf, Metadata, StringMetadata } from './metadata.ts';
import { RecordFailureDetails, SheetColumns } from './sheets.ts';
import { textLimits } from './store-bounds.ts';
import { TextSplitter } from './text-splitter.ts';
import {
  collectionTypes,
  duplicatePolicies,
  recordStages,
  recordStatuses,
  recordTypes,
  rowStatuses,
} from './vocabulary.ts';

/** Collections, records and chunks. Source: docs/contract.md "Collections, records, chunks". */

/** The built-in model, which uses words only and no vectors. The official client requires exactly 8 characters. */
export const builtInEmbeddingModel = 'QmBm25v1';

export const Collection = Type.Object({
  object: Type.Literal('Collection'),
  collection_id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  type: Type.Enum([...collectionTypes]),
  num_records: Type.Integer(),
  num_chunks: Type.Integer(),
  capacity: Type.Integer({ description: 'Maximum number of chunks.' }),
  embedding_model_id: Type.String({
    description: 'Id of the model whose vectors are in use. An id of another program that the request gave is kept.',
  }),
  embedding_size: Type.Integer({ description: 'Dimensions of a vector; 0 for the built-in model.' }),
  ...vectorFields,
  retrieval: Type.Object(RetrievalDefaults.properties, {
    description: 'Defaults of `mode`, `weights`, `rerank` and `min_similarity` for questions about this collection.',
  }),
  chunking: Type.Object(Chunking.properties, {
    description: 'How documents of records without a `text_splitter` are split.',
  }),
  rechunking: Rechunking,
  status: Type.Enum(['creating', 'ready', 'deleting', 'error', 'partial']),
  metadata: MapOf<unknown>(Type.Unknown()),
  updated_timestamp: Timestamp,
  created_timestamp: Timestamp,
});
export type Collection = Static<typeof Collection>;

export const CollectionCreate = Type.Object({
  name: Type.Optional(Type.String({ maxLength: textLimits.name, default: '' })),
  description: Type.Optional(Type.String({ maxLength: textLimits.description, default: '' })),
  type: Type.Optional(Type.Enum([...collectionTypes], { default: 'text' })),
  capacity: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000_000 })),
  embedding_model_id: Type.Optional(
    Type.String({
      minLength: 8,
      maxLength: 8,
      description: 'Id of the model that embeds the chunks. Other ids are kept and have no effect.',
    }),
  ),
  retrieval: Type.Optional(RetrievalDefaults),
  chunking: Type.Optional(Chunking),
  metadata: Type.Optional(Metadata),
});
export type CollectionCreate = Static<typeof CollectionCreate>;

export const CollectionUpdate = Type.Object({
  name: Type.Optional(Type.String({ maxLength: textLimits.name })),
  description: Type.Optional(Type.String({ maxLength: textLimits.description })),
  embedding_paused: Type.Optional(
    Type.Boolean({
      description:
        'true stops the embedding of chunks, for example to limit the cost; false continues where it stopped.',
    }),
  ),
  retrieval: Type.Optional(RetrievalDefaults),
  chunking: Type.Optional(Chunking),
  metadata: Type.Optional(Metadata),
});
export type CollectionUpdate = Static<typeof CollectionUpdate>;

export const RecordFailure = Type.Object({
  code: Type.String({
    description: 'Error code, such as `file_empty`, `file_encrypted`, `file_damaged` or `time_limit`.',
  }),
  message: Type.String(),
  details: Type.Optional(RecordFailureDetails),
});
export type RecordFailure = Static<typeof RecordFailure>;

export const RecordProgress = Type.Object({
  stage: Type.Enum([...recordStages]),
  percent: Type.Integer({ minimum: 0, maximum: 100 }),
  attempt: Type.Integer(),
});
export type RecordProgress = Static<typeof RecordProgress>;

export const RecordItem = Type.Object({
  object: Type.Literal('Record'),
  record_id: Type.String(),
  collection_id: Type.String(),
  title: Type.String(),
  status: Type.Enum([...recordStatuses]),
  num_chunks: Type.Integer(),
  type: Type.Enum([...recordTypes]),
  content: Type.String({
    description:
      'For type `text`, the text. For `file` and `qa_sheet`, JSON text {"file_id","file_name","file_size"}. For `web`, JSON text {"url"}.',
  }),
  metadata: MapOf<string>(Type.String()),
  progress: Type.Union([RecordProgress, Type.Null()], {
    description: 'Progress while `status` is `creating`, otherwise null.',
  }),
  error: Type.Union([RecordFailure, Type.Null()], { description: 'Reason if `status` is `error`, otherwise null.' }),
  embedding: Type.Union([RecordEmbedding, Type.Null()], {
    description: 'State of the vectors; null without an embedding model or without chunks.',
  }),
  report: Type.Union([MapOf<unknown>(Type.Unknown()), Type.Null()], {
    description: 'Facts about the source: what was read and what was left out.',
  }),
  updated_timestamp: Timestamp,
  created_timestamp: Timestamp,
});
export type RecordItem = Static<typeof RecordItem>;

const recordFields = {
  file_id: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  url: Type.Optional(Type.String({ minLength: 1, maxLength: 2048 })),
  title: Type.Optional(Type.String({ maxLength: textLimits.title })),
  content: Type.Optional(Type.String({ minLength: 1, maxLength: textLimits.content })),
  text_splitter: Type.Optional(TextSplitter),
  on_duplicate: Type.Optional(
    Type.Enum([...duplicatePolicies], {
      description:
        'For `qa_sheet`: what to do with a pair whose id (or question, if it has no id) already exists in the sheet or the collection. `skip` leaves it out, `replace` replaces the other pair, `keep` (default) keeps both.',
    }),
  ),
  columns: Type.Optional(SheetColumns),
  password: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: textLimits.password,
      'x-secret': true,
      description:
        'For `file` and `qa_sheet`: opens a PDF or Office file. It is encrypted until the record has been processed, then erased, and never returned. To process such a record again, send it again.',
    }),
  ),
  metadata: Type.Optional(StringMetadata),
};
export const RecordCreate = Type.Object({
  type: Type.Optional(Type.Enum([...recordTypes], { default: 'text' })),
  ...recordFields,
});
export type RecordCreate = Static<typeof RecordCreate>;
export const RecordUpdate = Type.Object({ type: Type.Optional(Type.Enum([...recordTypes])), ...recordFields });
export type RecordUpdate = Static<typeof RecordUpdate>;

export const RecordCreateQuery = Type.Object({
  dry_run: Type.Optional(
    Type.Boolean({
      description: 'Return a preview of the record and store nothing.',
      default: false,
    }),
  ),
});
export const RecordDeleteQuery = Type.Object({
  restorable: Type.Optional(
    Type.Boolean({
      description: 'Keep the record for 24 hours, so that it can be restored. It counts in the quota until then.',
      default: false,
    }),
  ),
});

export type RecordCreateQuery = Static<typeof RecordCreateQuery>;

const chunkFields = {
  chunk_id: Type.String(),
  record_id: Type.Union([Type.String(), Type.Null()], {
    description: 'Id of the record; null if the chunk was created without a record.',
  }),
  collection_id: Type.String(),
  title: Type.Union([Type.String(), Type.Null()], {
    description: 'Title of the record, which may be empty; null if the chunk was created without a record.',
  }),
  file_id: Type.Union([Type.String(), Type.Null()], {
    description: 'Id of the file of the record; null if the record has none. The file may have been deleted since.',
  }),
  file_name: Type.Union([Type.String(), Type.Null()], {
    description: 'Name of the file of the record; null if the record has none.',
  }),
  url: Type.Union([Type.String(), Type.Null()], {
    description: 'URL of the page of the record; null if the record is no web page.',
  }),
  content: Type.String(),
  question: Type.Optional(Type.String()),
  answer: Type.Optional(Type.String()),
  num_tokens: Type.Integer(),
  metadata: MapOf<unknown>(Type.Unknown()),
  locator: Type.Union([Locator, Type.Null()]),
  updated_timestamp: Timestamp,
  created_timestamp: Timestamp,
};
export const Chunk = Type.Object(chunkFields);
export type Chunk = Static<typeof Chunk>;

export const ChunkCreate = Type.Object({
  content: Type.String({ minLength: 1, maxLength: textLimits.content }),
  metadata: Type.Optional(Metadata),
});
export type ChunkCreate = Static<typeof ChunkCreate>;
const pairText = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: textLimits.content, description }));
export const ChunkUpdate = Type.Object({
  content: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: textLimits.content,
      description: 'New text of a passage. The text of a question-answer pair follows from its question and answer.',
    }),
  ),
  question: pairText('New question of a question-answer pair.'),
  answer: pairText('New answer of a question-answer pair.'),
  metadata: Type.Optional(Metadata),
});
export type ChunkUpdate = Static<typeof ChunkUpdate>;

export const RecordRow = Type.Object({
  object: Type.Literal('RecordRow'),
  row_id: Type.String(),
  record_id: Type.String(),
  status: Type.Enum([...rowStatuses]),
  sheet: Type.Union([Type.String(), Type.Null()], { description: 'Name of the sheet; null for CSV.' }),
  row: Type.Integer({ description: 'Row of the sheet, or line of the CSV file, counted from 1.' }),
  column: Type.Union([Type.String(), Type.Null()], { description: 'Column that caused the error, such as `B`.' }),
  code: Type.String({ description: 'Code such as `empty_answer`, `too_long` or `duplicate_in_collection`.' }),
  message: Type.String(),
  excerpt: Type.String({ description: 'Text of the cells, at most 200 characters.' }),
});
export type RecordRow = Static<typeof RecordRow>;

export const RecordRowQuery = Type.Object({
  ...ListQuery.properties,
  status: Type.Optional(Type.Enum([...rowStatuses], { default: 'rejected' })),
  format: Type.Optional(
    Type.Enum(['json', 'csv'], {
      description: '`csv` returns all rejected rows as a sheet that you can correct and upload again.',
    }),
  ),
});
export type RecordRowQuery = Static<typeof RecordRowQuery>;

const previewOf = {
  content: Type.String(),
  question: Type.Optional(Type.String()),
  answer: Type.Optional(Type.String()),
};

/** The response of a dry run. */
export const RecordPreview = Type.Object({
  object: Type.Literal('RecordPreview'),
  collection_id: Type.String(),
  status: Type.Enum(['ready', 'partial', 'error'], { description: 'Status that the record would have.' }),
  num_chunks: Type.Integer(),
  error: Type.Union([RecordFailure, Type.Null()]),
  report: Type.Union([MapOf<unknown>(Type.Unknown()), Type.Null()]),
  chunks: Type.Array(
    Type.Object({
      ...previewOf,
      num_tokens: Type.Integer(),
      metadata: MapOf<unknown>(Type.Unknown()),
      locator: Type.Union([Locator, Type.Null()]),
    }),
    { description: 'The first chunks, at most 10.' },
  ),
  rows: Type.Array(Type.Omit(RecordRow, ['row_id', 'record_id', 'object']), {
    description: 'The first rows that would be rejected, at most 100.',
  }),
});
export type RecordPreview = Static<typeof RecordPreview>;
