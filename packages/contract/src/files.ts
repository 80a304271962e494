import { type Static, Type } from 'typebox';
import { Timestamp } from './envelope.ts';
import { purposeNames } from './formats.ts';
import { Limit } from './limits.ts';

export const PurposeName = Type.Enum(purposeNames, { description: 'Purpose of the file.' });

/** An uploaded file. The interface requires only `file_id`. Source: docs/contract.md "Interface", docs/contract.md "Files". */
export const File = Type.Object(
  {
    file_id: Type.String({ description: 'Identifier of the uploaded file.' }),
    file_name: Type.String({ description: 'Name under which the file was uploaded. It is only displayed.' }),
    purpose: PurposeName,
    bytes: Type.Integer({ description: 'Size in bytes.' }),
    sha256: Type.String({ description: 'SHA-256 of the content, hexadecimal.' }),
    created_timestamp: Timestamp,
  },
  { description: 'An uploaded file.' },
);
export type File = Static<typeof File>;

export const FileReference = Type.Object({ collection_id: Type.String(), record_id: Type.String() });
export type FileReference = Static<typeof FileReference>;

export const FileWithReferences = Type.Interface([File], {
  references: Type.Array(FileReference, {
    description: 'Records that were created from this file, newest first, at most 100.',
  }),
});
export type FileWithReferences = Static<typeof FileWithReferences>;

export const Limits = Type.Object({
  purposes: Type.Record(
    Type.String(),
    Type.Object({ extensions: Type.Array(Type.String()), max_bytes: Type.Integer() }),
  ),
  rate: Type.Object({
    uploads_in_flight: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Number of uploads of this project in progress; null for a key that is limited to collections.',
    }),
    max_uploads_in_flight: Type.Integer({
      description:
        'The maximum number of concurrent uploads of one key. A single project may have twice as many, and all projects together four times as many.',
    }),
  }),
  quota: Type.Object({
    bytes_used: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Of the whole project; null for a key that is limited to collections, as is `bytes_left`.',
    }),
    max_bytes: Type.Union([Type.Integer(), Type.Null()], { description: 'Quota in bytes; null if there is none.' }),
    bytes_left: Type.Union([Type.Integer(), Type.Null()]),
  }),
  limits: Type.Array(Limit, {
    description: 'Limits that a client can act on. The API reference states the bounds of each field.',
  }),
});
export type Limits = Static<typeof Limits>;
