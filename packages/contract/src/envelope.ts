import { type Static, type TSchema, Type } from 'typebox';

/** One violation of a schema by a value: an input, credentials, a field or an output. */
export const ErrorDetail = Type.Object({
  path: Type.String({ description: 'Where: `body/purpose`, `body/input_params/q`; in an output a JSON Pointer.' }),
  found: Type.String({ description: 'What is there; never a value of credentials.' }),
  expected: Type.String({ description: 'What may be there.' }),
});
export type ErrorDetail = Static<typeof ErrorDetail>;

/** The body of every error. Source: docs/contract.md "Both addresses". */
export const ErrorAnswer = Type.Object(
  {
    status: Type.Literal('error'),
    error: Type.Object({
      code: Type.String({ description: 'A code of docs/reference/errors.md.' }),
      message: Type.String({ description: 'Names the field, what was found and what is expected.' }),
      details: Type.Optional(
        Type.Array(Type.Record(Type.String(), Type.Unknown()), {
          description:
            'By code. Of REQUEST_VALIDATION_ERROR: `path`, `found` and `expected` of each thing that is wrong.',
        }),
      ),
      request_id: Type.String(),
    }),
  },
  { description: 'The error envelope.' },
);
export type ErrorAnswer = Static<typeof ErrorAnswer>;

/** `{"status":"success"}`: the answer to a request that has nothing to return, such as a deletion. */
export const Acknowledgement = Type.Object({ status: Type.Literal('success') });

/** `{"status":"success","data":…}` around one object. */
export function Success<T extends TSchema>(data: T) {
  return Type.Object({ ...Acknowledgement.properties, data });
}

/** The list envelope: `data`, `fetched_count` = items in this response, `has_more` in the direction of the page. */
export function List<T extends TSchema>(item: T) {
  return Type.Object({
    ...Success(Type.Array(item)).properties,
    fetched_count: Type.Integer(),
    has_more: Type.Boolean(),
  });
}

/** The query of every list. Default: newest first, 20 items; cursors are ids. */
export const ListQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Items in one answer.' })),
  order: Type.Optional(Type.Enum(['asc', 'desc'], { default: 'desc', description: 'By time of creation.' })),
  after: Type.Optional(Type.String({ minLength: 1, maxLength: 50, description: 'Id: the page that follows it.' })),
  before: Type.Optional(Type.String({ minLength: 1, maxLength: 50, description: 'Id: the page that precedes it.' })),
});
export type ListQuery = Static<typeof ListQuery>;

/** The latest time that a `Date` can represent, in milliseconds. */
export const lastTime = 8.64e15;

export const Timestamp = Type.Integer({ description: 'Milliseconds since 1970-01-01 UTC.' });

/** The header `Idempotency-Key` of operations that answer a repetition with the stored result. */
export const IdempotencyKey = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'A repetition with the same key and content within 24 hours gets the same answer.',
});
