import { type Static, Type } from 'typebox';
import { ChunkQuery } from './chunk-query.ts';
import { filterLimits } from './filter-limits.ts';
import { MapOf } from './metadata.ts';
import { textLimits } from './store-bounds.ts';

/** APIs in the formats of other programs. Source: docs/contract.md "Dialects". */

/** The operators of Dify. */
export const difyOperators = [
  ...(['contains', 'not contains', 'start with', 'end with'] as const),
  ...(['is', 'is not', 'in', 'not in', 'empty', 'not empty'] as const),
  ...(['=', '≠', '>', '<', '≥', '≤', 'before', 'after'] as const),
] as const;
export type DifyOperator = (typeof difyOperators)[number];

const Nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]));
const text = Type.String({ maxLength: filterLimits.textCharacters });
const Name = Type.String({ minLength: 1, maxLength: 64 });

export const DifyCondition = Type.Object({
  name: Type.Union([Name, Type.Array(Name, { minItems: 1, maxItems: filterLimits.conditions })], {
    description: 'Name of a metadata entry. With several names, one of the entries must match.',
  }),
  comparison_operator: Type.Enum([...difyOperators]),
  value: Nullable(
    Type.Union([
      text,
      Type.Number(),
      Type.Array(Type.Union([text, Type.Number()]), { minItems: 1, maxItems: filterLimits.values }),
    ]),
  ),
});
export type DifyCondition = Static<typeof DifyCondition>;

/** The body of `POST /dify/retrieval`. Dify sends null for settings that it does not know. */
export const DifyRetrieval = Type.Object({
  knowledge_id: Type.String({ minLength: 1, maxLength: 256, description: 'Id of a collection.' }),
  query: Type.String({ minLength: 1, maxLength: textLimits.query }),
  retrieval_setting: Nullable(
    Type.Object({
      top_k: Nullable(ChunkQuery.properties.top_k),
      score_threshold: Nullable(Type.Number({ minimum: 0, maximum: 1 })),
    }),
  ),
  metadata_condition: Nullable(
    Type.Object({
      logical_operator: Nullable(Type.Enum(['and', 'or'])),
      conditions: Nullable(Type.Array(DifyCondition, { maxItems: filterLimits.conditions })),
    }),
  ),
});
export type DifyRetrieval = Static<typeof DifyRetrieval>;

export const DifyRecords = Type.Object({
  records: Type.Array(
    Type.Object({
      content: Type.String(),
      score: Type.Number({ minimum: 0, maximum: 1 }),
      title: Type.String({ description: 'Title of the record. Without a title, the name of its file or its URL.' }),
      metadata: MapOf<unknown>(Type.Unknown(), {
        description: 'The metadata of the chunk, and `document_id`, `chunk_id`, `path`, `page` and `heading`.',
      }),
    }),
  ),
});
export type DifyRecords = Static<typeof DifyRecords>;

export const DifyError = Type.Object({
  error_code: Type.Integer({
    description: '1002: the key was refused. 2001: the collection does not exist. Otherwise the HTTP status.',
  }),
  error_msg: Type.String(),
  code: Type.String({ description: 'The error code of this service.' }),
  request_id: Type.String(),
});
export type DifyError = Static<typeof DifyError>;

/** The text of one page, sheet or whole document. */
export const LoadedDocument = Type.Object({
  page_content: Type.String(),
  metadata: Type.Object({
    source: Type.String({ description: 'Name of the file.' }),
    mime_type: Type.Optional(Type.String({ description: '`Content-Type` of the request.' })),
    title: Type.Optional(Type.String({ description: 'Title of the document.' })),
    page: Type.Optional(Type.Integer({ description: 'Number of the page, counted from 0.' })),
    page_label: Type.Optional(Type.String({ description: 'Number of the page, counted from 1.' })),
    sheet: Type.Optional(Type.String()),
  }),
});
export type LoadedDocument = Static<typeof LoadedDocument>;
export const LoadedDocuments = Type.Array(LoadedDocument);

export const LoaderError = Type.Object({
  detail: Type.String(),
  code: Type.String({ description: 'The error code of this service.' }),
  reason: Type.Optional(Type.String({ description: 'Why the document could not be read, such as `file_encrypted`.' })),
  request_id: Type.String(),
});
export type LoaderError = Static<typeof LoaderError>;
