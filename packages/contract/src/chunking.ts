import { type Static, Type } from 'typebox';
import { ChunkSize } from './text-splitter.ts';

/** How a collection splits the documents of records without a `text_splitter`. Source: docs/contract.md "Collections, records, chunks". */
export const Chunking = Type.Object(
  {
    chunk_size: Type.Optional(ChunkSize),
  },
  {
    additionalProperties: false,
    description:
      'How documents of records without a `text_splitter` are split. Without `chunk_size`, the script decides: 400 tokens for Latin text, up to 640 for others. A change splits the records of the collection again in the background. `{}` restores the default. For type `text` only.',
  },
);
export type Chunking = Static<typeof Chunking>;

/** The progress of a change of `chunking`. */
export const Rechunking = Type.Object(
  {
    num_pending_records: Type.Integer({
      description: 'Number of records whose chunks may not follow `chunking` yet. Their old chunks answer until then.',
    }),
    num_kept_records: Type.Integer({
      description:
        'Number of records that kept their chunks: one of them was changed or deleted by a request, the file no longer exists or cannot be read, the record is a web page, or its last processing has failed. Retry such a record to split it again; if its file has a password, update it with `password`.',
    }),
  },
  { description: 'The progress of the last change of `chunking`.' },
);
export type Rechunking = Static<typeof Rechunking>;
