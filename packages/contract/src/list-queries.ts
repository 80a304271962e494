import { type Static, Type } from 'typebox';
import { ListQuery } from './envelope.ts';
import { PurposeName } from './files.ts';
import { textLimits } from './store-bounds.ts';
import { collectionTypes } from './vocabulary.ts';

/** Queries of lists that select items. Source: docs/contract.md "Both addresses". */

const partOfName = (maxLength: number, description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description }));
const contentHash = (description: string) => Type.Optional(Type.String({ minLength: 64, maxLength: 64, description }));

export const FileListQuery = Type.Object({
  ...ListQuery.properties,
  purpose: Type.Optional(PurposeName),
  collection_type: Type.Optional(
    Type.Enum(collectionTypes, { description: 'Files whose purpose fits collections of this type.' }),
  ),
  name: partOfName(255, 'Files whose name contains this text; the case of A–Z is ignored.'),
  sha256: contentHash('Files whose content has this SHA-256, in lower-case hexadecimal.'),
});
export type FileListQuery = Static<typeof FileListQuery>;

export const CollectionListQuery = Type.Object({
  ...ListQuery.properties,
  name: partOfName(textLimits.name, 'Collections whose name contains this text; the case of A–Z is ignored.'),
});
export type CollectionListQuery = Static<typeof CollectionListQuery>;

export const ChunkListQuery = Type.Object({
  ...ListQuery.properties,
  edited: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Only chunks that were changed since they were created. Processing the record again restores the text of the source.',
    }),
  ),
});
export type ChunkListQuery = Static<typeof ChunkListQuery>;

export const RecordListQuery = Type.Object({
  ...ListQuery.properties,
  status: Type.Optional(
    Type.Enum(['creating', 'ready', 'partial', 'error', 'deleting'], {
      description: 'Records in this status. `deleting` lists the deleted records that can be restored.',
    }),
  ),
  type: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 16,
      pattern: '^(?:qa_sheet|[a-z0-9]+)$',
      description:
        'Records of this type, such as `web`, or records of files with this extension, such as `pdf`, in lower case.',
    }),
  ),
  name: partOfName(
    textLimits.title,
    'Records whose name contains this text; the case of A–Z is ignored. The name is the title. Without a title it is the file name, the URL or the first 80 characters of the text.',
  ),
  sha256: contentHash(
    'Records of files whose content has this SHA-256, in lower-case hexadecimal. Files that were deleted are not found.',
  ),
});
export type RecordListQuery = Static<typeof RecordListQuery>;
