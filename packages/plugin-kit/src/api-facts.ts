import { type Static, Type } from 'typebox';

const strict = { additionalProperties: false } as const;
const day = { pattern: '^20\\d\\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$' };

const sentence = Type.String({ minLength: 1, maxLength: 500 });
/** Since when and why the bundle cannot be used, and what to use instead. */
export const Retirement = Type.Object({ date: Type.String(day), reason: sentence, successor: sentence }, strict);

/** Facts about the API behind a bundle or plugin and their date, so that readers can judge whether they are current. */
export const ApiFacts = Type.Object(
  {
    /** The URL of the API's documentation. */
    documentation: Type.Optional(Type.String({ pattern: '^https://' })),
    /** The month of the latest known state of the API. */
    as_of: Type.Optional(Type.String({ pattern: '^20\\d\\d-(0[1-9]|1[0-2])$' })),
    /** The source of the payloads in examples. */
    payloads: Type.Optional(Type.String({ minLength: 1 })),
    /** Further facts to know before using the API: plans, quotas, missing features. */
    note: Type.Optional(Type.String({ minLength: 1 })),
    /** The source that requests and answers were compared with, such as `Slack's OpenAPI document`, and its date. Absent: unverified. */
    verified: Type.Optional(
      Type.Object({ against: Type.String({ minLength: 1, maxLength: 200 }), date: Type.String(day) }, strict),
    ),
  },
  strict,
);
export type ApiFacts = Static<typeof ApiFacts>;
