import { type Static, type TSchema, Type } from 'typebox';
import { errorCodes } from './codes.ts';

/** One violation of a schema by a value: an input, credentials, a field or an output. */
export const ErrorDetail = Type.Object({
  path: Type.String({
    description: 'Path of the field, such as `body/purpose` or `body/input_params/q`; for an output, a JSON Pointer.',
  }),
  found: Type.String({ description: 'The value or type that was received. Values of credentials are never shown.' }),
  expected: Type.String({ description: 'The values that are allowed.' }),
});
export type ErrorDetail = Static<typeof ErrorDetail>;

/** The body of every error. Source: docs/contract.md "Both addresses". */
export const ErrorAnswer = Type.Object(
  {
    status: Type.Literal('error'),
    error: Type.Object({
      // A list that later versions extend, which a client must expect.
      code: Type.String({
        description: 'Error code; docs/reference/errors.md lists all codes.',
        'x-extensible-enum': Object.keys(errorCodes),
      }),
      message: Type.String({ description: 'Message that says what failed and what to do.' }),
      details: Type.Optional(
        Type.Array(Type.Record(Type.String(), Type.Unknown()), {
          description:
            'Details that depend on the code. For REQUEST_VALIDATION_ERROR: `path`, `found` and `expected` of each invalid field.',
        }),
      ),
      request_id: Type.String(),
    }),
  },
  { description: 'An error.' },
);
export type ErrorAnswer = Static<typeof ErrorAnswer>;

/** `{"status":"success"}`: the answer to a request that has nothing to return, such as a deletion. */
export const Acknowledgement = Type.Object({ status: Type.Literal('success') });

/** `{"status":"success","data":…}` around one object. */
export function Success<T extends TSchema>(data: T) {
  return Type.Object({ ...Acknowledgement.properties, data });
}

/** Unknown members of a request, which an answer names. Source: docs/contract.md "Both addresses". */
export const Warnings = {
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Unknown members at the top level of the request, which were ignored: the first 20, then the number of the others. Absent if there are none.',
    }),
  ),
};

/** `{"status":"success","data":…}` of a request whose unknown members are named. */
export function SuccessWithWarnings<T extends TSchema>(data: T) {
  return Type.Object({ ...Success(data).properties, ...Warnings });
}

/** The list envelope: `data`, `fetched_count` = items in this response, `has_more` in the direction of the page. */
export function List<T extends TSchema>(item: T) {
  return Type.Object({
    ...Success(Type.Array(item)).properties,
    fetched_count: Type.Integer(),
    has_more: Type.Boolean(),
  });
}

/** Maximum number of objects that a request counts. Source: docs/contract.md "Both addresses". */
export const maxCounted = 10_000;

/** The list envelope with the number of all items, which `count=true` requests. */
export function CountedList<T extends TSchema>(item: T) {
  return Type.Object({
    ...List(item).properties,
    total_count: Type.Optional(
      Type.Integer({ description: 'Number of items that match the filters, on all pages. Only with `count=true`.' }),
    ),
    total_count_is_exact: Type.Optional(
      Type.Boolean({
        description: `False if the service stopped counting at ${maxCounted} objects: the list then has at least \`total_count\` items. Only with \`count=true\`.`,
      }),
    ),
  });
}

/** The query of every list. Default: newest first, 20 items; cursors are ids. */
export const ListQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Maximum number of items in the answer.' }),
  ),
  order: Type.Optional(Type.Enum(['asc', 'desc'], { default: 'desc', description: 'Sort order by time of creation.' })),
  after: Type.Optional(
    Type.String({ minLength: 1, maxLength: 50, description: 'Return the page that follows the item with this id.' }),
  ),
  before: Type.Optional(
    Type.String({ minLength: 1, maxLength: 50, description: 'Return the page that precedes the item with this id.' }),
  ),
  count: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Add `total_count` and `total_count_is_exact` to the answer.',
    }),
  ),
});
export type ListQuery = Static<typeof ListQuery>;

/** The latest time that a `Date` can represent, in milliseconds. */
export const lastTime = 8.64e15;

export const Timestamp = Type.Integer({ description: 'Milliseconds since 1970-01-01 UTC.' });

/** The header `Idempotency-Key` of operations that answer a repetition with the stored result. */
export const IdempotencyKey = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'A repetition with the same key and content within 24 hours returns the stored answer.',
});
