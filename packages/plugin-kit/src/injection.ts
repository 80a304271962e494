import { type Static, Type } from 'typebox';

/** Where credentials go when the broker sends a request. `docs/guides/bundles.md` describes each form for authors. */
const strict = { additionalProperties: false } as const;

/** `{credential}` in a template is the value. */
const template = Type.Optional(Type.String({ default: '{credential}' }));
/** The name of a credential. */
const Name = Type.String({ minLength: 1 });
/** A place in the request. */
const Place = { in: Type.Enum(['header', 'query']), name: Type.String({ minLength: 1 }) } as const;

/** Text that the bundle knows, or a credential that holds it (not a secret one, as a rule). */
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
    /** How the credential writes the key's bytes. */
    key_encoding: Type.Optional(Type.Enum(['text', 'base64', 'hex'], { default: 'text' })),
    algorithm: Type.Enum(['sha1', 'sha256', 'sha384', 'sha512']),
    /** What is signed; placeholders as `messageParts` names them. */
    message: Type.String({ minLength: 1, maxLength: 2000 }),
    encoding: Type.Optional(Type.Enum(['hex', 'base64', 'base64url'], { default: 'hex' })),
    /** Where the signature goes; `{signature}`, `{timestamp}`, `{nonce}` and `{credential:NAME}` in `template`. */
    signature: Type.Object({ ...Place, template: Type.Optional(Type.String({ default: '{signature}' })) }, strict),
    /** When it is signed; sent as well when it has a place. */
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
    /** 32 random hexadecimal digits; sent as well when it has a place. */
    nonce: Type.Optional(Type.Object({ in: Type.Optional(Place.in), name: Type.Optional(Place.name) }, strict)),
  },
  strict,
);
export type HmacSigning = Static<typeof HmacSigning>;

/** OAuth 2: an access token that the server gets, keeps in memory and sends. */
export const OAuth2 = Type.Object(
  {
    in: Type.Literal('oauth2'),
    grant: Type.Enum(['client_credentials', 'refresh_token']),
    /** Its host must be one of the bundle's `hosts`. */
    token_url: Type.String({ pattern: '^https?://[^\\s?#{}]+$' }),
    client_id: Name,
    client_secret: Type.Optional(Name),
    refresh_token: Type.Optional(Name),
    /** How the client says who it is: default `basic` with a secret, `none` without. */
    client_authentication: Type.Optional(Type.Enum(['basic', 'body', 'none'])),
    scope: Type.Optional(Type.String({ minLength: 1 })),
    /** Further parameters of the token request, such as `audience`. */
    parameters: Type.Optional(Type.Record(Type.String(), TextOrCredential)),
    /** The header that carries the token, and how; `{token}` in `template` is the token. */
    header: Type.Optional(Type.String({ default: 'Authorization' })),
    template: Type.Optional(Type.String({ default: 'Bearer {token}' })),
  },
  strict,
);
export type OAuth2 = Static<typeof OAuth2>;

/** Where a credential goes when the broker sends a request. */
export const Injection = Type.Union([
  /** A credential may name the header, too: of an API that is known only when it is called. */
  Type.Object({ in: Type.Literal('header'), name: TextOrCredential, credential: Name, template }, strict),
  Type.Object(
    {
      /** `form`: a field of the request's form; `json`: a member of its JSON body. Only requests that send one. */
      in: Type.Enum(['query', 'form', 'json']),
      /** In JSON: a member of the body, or a JSON pointer such as `/auth/key`. */
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
 * Placeholders of an `hmac` message. `path` and `query` are as they are sent, `query` without the question mark;
 * `sorted_query` has its pairs in the order of their encoded text; `body` is empty where there is none.
 * `{header:NAME}` and `{credential:NAME}` stand beside these.
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
