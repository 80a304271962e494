import { type Static, Type } from 'typebox';

const strict = { additionalProperties: false } as const;
const HttpsUrl = Type.String({ pattern: '^https://', maxLength: 2048 });
const Texts = Type.Record(Type.String(), Type.String({ maxLength: 1024 }), { maxProperties: 16 });

/**
 * How end users connect an account in the browser (OAuth 2, authorisation code). Token, revocation and account URLs are on `hosts`.
 */
export const OauthDeclaration = Type.Object(
  {
    authorization_url: HttpsUrl,
    token_url: HttpsUrl,
    /** The `iss` of its answers (RFC 9207), if it sends one. */
    issuer: Type.Optional(Type.String({ pattern: '^https?://', maxLength: 2048 })),
    /** How the client proves itself. Default: `body`. */
    client_authentication: Type.Optional(Type.Enum(['basic', 'body', 'none'])),
    /** The encoding of token requests. Default: `form`. */
    token_format: Type.Optional(Type.Enum(['form', 'json'])),
    /** Default: true. */
    pkce: Type.Optional(Type.Boolean()),
    /** Default: a space. */
    scope_separator: Type.Optional(Type.Enum([' ', ','])),
    /** The name of the parameter with the scopes. Default: `scope`. */
    scope_parameter: Type.Optional(Type.String({ pattern: '^[a-z_]{1,64}$' })),
    authorization_parameters: Type.Optional(Texts),
    token_headers: Type.Optional(Texts),
    scopes: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 50 }),
    /** `{client_id}` in the URL is replaced. */
    revocation: Type.Optional(
      Type.Object(
        {
          url: HttpsUrl,
          method: Type.Optional(Type.Enum(['POST', 'DELETE'])),
          /** Default: that of the client. `bearer`: the access token itself. */
          authentication: Type.Optional(Type.Enum(['basic', 'body', 'none', 'bearer'])),
          /** Default: `token`. */
          parameter: Type.Optional(Type.String({ pattern: '^[a-z_]{1,64}$' })),
        },
        strict,
      ),
    ),
    /** A request with the access token as bearer that tells whose account it is. `id` and `label` are paths such as `data.viewer.id`. */
    account: Type.Optional(
      Type.Object(
        {
          url: HttpsUrl,
          /** The query of GraphQL. The request is then a POST. */
          graphql: Type.Optional(Type.String({ maxLength: 1024 })),
          headers: Type.Optional(Texts),
          id: Type.String({ pattern: '^[A-Za-z0-9_]+(\\.[A-Za-z0-9_]+)*$', maxLength: 128 }),
          label: Type.String({ pattern: '^[A-Za-z0-9_]+(\\.[A-Za-z0-9_]+)*$', maxLength: 128 }),
        },
        strict,
      ),
    ),
    /** The credential that receives the access token. */
    credential: Type.String({ pattern: '^[A-Za-z0-9_]{1,64}$' }),
  },
  strict,
);
export type OauthDeclaration = Static<typeof OauthDeclaration>;
