import { type Static, Type } from 'typebox';

/** The places for credentials in requests of the broker. `docs/guides/bundles.md` describes each form for authors. */
const strict = { additionalProperties: false } as const;

/** A template in which `{credential}` is replaced by the value. */
const template = Type.Optional(Type.String({ default: '{credential}' }));
/** The name of a credential. */
const Name = Type.String({ minLength: 1 });
/** A place in the request. */
const Place = { in: Type.Enum(['header', 'query']), name: Type.String({ minLength: 1 }) } as const;

/** A fixed text, or the credential that contains it (usually not a secret one). */
const TextOrCredential = Type.Union([
  Type.String({ minLength: 1 }),
  Type.Object({ credential: Name, default: Type.Optional(Type.String({ minLength: 1 })) }, strict),
]);
export type TextOrCredential = Static<typeof TextOrCredential>;

/** AWS Signature Version 4, in the `Authorization` header. */
export const AwsSigning = Type.Object(
  {
    in: Type.Literal('aws_sigv4'),
    access_key_id: Name,
    secret_access_key: Name,
    session_token: Type.Optional(Name),
    service: TextOrCredential,
    region: TextOrCredential,
  },
  strict,
);
export type AwsSigning = Static<typeof AwsSigning>;

/** A keyed hash over parts of the request. */
export const HmacSigning = Type.Object(
  {
    in: Type.Literal('hmac'),
    credential: Name,
    /** The encoding of the key in the credential. */
    key_encoding: Type.Optional(Type.Enum(['text', 'base64', 'hex'], { default: 'text' })),
    algorithm: Type.Enum(['sha1', 'sha256', 'sha384', 'sha512']),
    /** The signed text, with the placeholders of `hmacMessageParts`. */
    message: Type.String({ minLength: 1, maxLength: 2000 }),
    encoding: Type.Optional(Type.Enum(['hex', 'base64', 'base64url'], { default: 'hex' })),
    /** The place of the signature. `template` may contain `{signature}`, `{timestamp}`, `{nonce}` and `{credential:NAME}`. */
    signature: Type.Object({ ...Place, template: Type.Optional(Type.String({ default: '{signature}' })) }, strict),
    /** The time of the signature. It is also sent when it has a place. */
    timestamp: Type.Optional(
      Type.Object(
        {
          format: Type.Enum(['seconds', 'milliseconds', 'iso8601', 'http_date']),
          in: Type.Optional(Place.in),
          name: Type.Optional(Place.name),
        },
        strict,
      ),
    ),
    /** 32 random hexadecimal digits. With `in` and `name`, the request also contains them. */
    nonce: Type.Optional(Type.Object({ in: Type.Optional(Place.in), name: Type.Optional(Place.name) }, strict)),
  },
  strict,
);
export type HmacSigning = Static<typeof HmacSigning>;

/** OAuth 2: the server requests an access token, caches it in memory and sends it. */
export const OAuth2 = Type.Object(
  {
    in: Type.Literal('oauth2'),
    grant: Type.Enum(['client_credentials', 'refresh_token']),
    /** Its host must be one of the bundle's `hosts`. */
    token_url: Type.String({ pattern: '^https?://[^\\s?#{}]+$' }),
    client_id: Name,
    client_secret: Type.Optional(Name),
    refresh_token: Type.Optional(Name),
    /** How the client authenticates. Default: `basic` with a secret, `none` without. */
    client_authentication: Type.Optional(Type.Enum(['basic', 'body', 'none'])),
    scope: Type.Optional(Type.String({ minLength: 1 })),
    /** Further parameters of the token request, such as `audience`. */
    parameters: Type.Optional(Type.Record(Type.String(), TextOrCredential)),
    /** The header that carries the token. `{token}` in `template` is the token. */
    header: Type.Optional(Type.String({ default: 'Authorization' })),
    template: Type.Optional(Type.String({ default: 'Bearer {token}' })),
  },
  strict,
);
export type OAuth2 = Static<typeof OAuth2>;

/** The place of a credential in requests of the broker. */
export const Injection = Type.Union([
  /** A credential may also contain the header's name, for APIs that are chosen at run time. */
  Type.Object({ in: Type.Literal('header'), name: TextOrCredential, credential: Name, template }, strict),
  Type.Object(
    {
      /** `form`: a field of a form; `json`: a member of a JSON body. Requests without that kind of body are sent without it. */
      in: Type.Enum(['query', 'form', 'json']),
      /** For JSON: the name of a member, or a JSON pointer such as `/auth/key`. */
      name: Type.String({ minLength: 1 }),
      credential: Name,
      template,
    },
    strict,
  ),
  /** `Authorization: Bearer …` */
  Type.Object({ in: Type.Literal('bearer'), credential: Name }, strict),
  /** The text `{credential:NAME}` in the path of the URL. */
  Type.Object({ in: Type.Literal('path'), credential: Name }, strict),
  Type.Object({ in: Type.Literal('basic'), username: Name, password: Type.Optional(Name) }, strict),
  AwsSigning,
  HmacSigning,
  OAuth2,
]);
export type Injection = Static<typeof Injection>;

/**
 * The placeholders of an `hmac` message. `path` and `query` have the sent form, `query` without the question mark. `sorted_query`
 * sorts the pairs by their encoded text. `body` is empty without a body. `{header:NAME}` and `{credential:NAME}` are also
 * available.
 */
export const hmacMessageParts = [
  'method',
  'host',
  'path',
  'query',
  'sorted_query',
  'path_and_query',
  'body',
  'body_sha256',
  'body_sha256_base64',
  'timestamp',
  'nonce',
] as const;
