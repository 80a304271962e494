import { bundleCategories, pluginEffects } from '@quartermaster/contract';
import { type Static, Type } from 'typebox';
import { ApiFacts, Retirement } from './api-facts.ts';
import { Injection } from './injection.ts';
import { OauthDeclaration } from './oauth.ts';

/**
 * The schemas of `bundle.yaml` and `<plugin_id>.yaml`. `docs/guides/bundles.md` describes them for authors. Unknown members are
 * refused, so that typing errors are noticed.
 */
const strict = { additionalProperties: false } as const;

/** A text, or one text per language (`en` is then required). */
export const LocalisedText = Type.Union([
  Type.String({ minLength: 1 }),
  Type.Object({ en: Type.String({ minLength: 1 }) }, { additionalProperties: { type: 'string', minLength: 1 } }),
]);
export type LocalisedText = Static<typeof LocalisedText>;

const Schema = Type.Object({ type: Type.Literal('object') }, { additionalProperties: true });

/**
 * Any value whose strings may contain placeholders: `{name}` is the input parameter `name`. A string that is only one placeholder
 * keeps the parameter's type. A member whose placeholders are all absent is left out. Values in a URL are percent-encoded. `{{` is
 * a literal brace.
 */
const Template = Type.Unknown();

/** How a list or an object is written as text. */
export const ParameterStyle = Type.Enum([
  ...(['repeat', 'comma', 'space', 'pipe', 'pairs', 'members', 'deep_object', 'json'] as const),
]);
export type ParameterStyle = Static<typeof ParameterStyle>;
const Styles = Type.Optional(Type.Record(Type.String(), ParameterStyle));

/** A declarative HTTP request. The broker adds the credentials as the bundle's `inject` declares. */
export const RequestTemplate = Type.Object(
  {
    method: Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'], { default: 'GET' }),
    /** An absolute URL whose host is one of the bundle's `hosts`. Placeholders are allowed in the path only. */
    url: Type.String({ pattern: '^https?://' }),
    query: Type.Optional(Type.Record(Type.String(), Template)),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    cookies: Type.Optional(Type.Record(Type.String(), Type.String())),
    /** Styles by the name of the input parameter for paths, otherwise by the sent name. */
    styles: Type.Optional(
      Type.Object({ path: Styles, query: Styles, headers: Styles, cookies: Styles, form: Styles }, strict),
    ),
    /** The same as `inject` of the bundle, for this request only. */
    inject: Type.Optional(Type.Array(Injection)),
    /** An object or array is sent as JSON. */
    body: Type.Optional(Template),
    /** `multipart`: a form that may contain files. `base64`: the body is base64, and the decoded bytes are sent. */
    body_type: Type.Optional(Type.Enum(['json', 'form', 'multipart', 'base64'])),
    /** The files of a multipart body by field name. The field is base64 and is sent as a file. */
    files: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object({ filename: Type.Optional(Type.String()), content_type: Type.Optional(Type.String()) }, strict),
      ),
    ),
  },
  strict,
);
export type RequestTemplate = Static<typeof RequestTemplate>;

/** Locates the reason in an error answer, and gives messages for statuses. By default, the service searches the usual places. */
export const ErrorMapping = Type.Object(
  {
    /** JMESPath over {status, headers, body, input}: the message of the third party. */
    message: Type.Optional(Type.String()),
    /** JMESPath over the same data: the error code of the third party. */
    code: Type.Optional(Type.String()),
    /** Messages by HTTP status, 400 to 599. */
    statuses: Type.Optional(
      Type.Record(Type.String(), Type.String({ minLength: 1, maxLength: 500 }), { maxProperties: 100 }),
    ),
  },
  strict,
);
export type ErrorMapping = Static<typeof ErrorMapping>;

/** How the upstream's response becomes the output. */
export const ResponseMapping = Type.Object(
  {
    /** The format of the body: `json` (default), `xml` (a tree of {name, attributes, text, children}), `text` or `base64` (bytes). */
    format: Type.Optional(Type.Enum(['json', 'xml', 'text', 'base64'])),
    /** JMESPath over {status, headers, body, input}. The result is the output. Default: the body. */
    output: Type.Optional(Type.String()),
    /**
     * JMESPath over the same data. A true value means that the upstream failed although its status was 2xx. A string is used as the
     * error message.
     */
    failed_when: Type.Optional(Type.String()),
    /** Statuses that mean rejected credentials. Default: [401]. */
    credentials_rejected: Type.Optional(Type.Array(Type.Integer())),
    /** JMESPath; true means that an error response is caused by the credentials (some APIs answer 200 or 400). */
    credentials_rejected_when: Type.Optional(Type.String()),
    /** Replaces members of the bundle's `errors` for this call. */
    errors: Type.Optional(ErrorMapping),
  },
  strict,
);
export type ResponseMapping = Static<typeof ResponseMapping>;

/** The operator allows the hosts of the bundle (`QUARTERMASTER_BUNDLE_HOSTS`). Until then it may call none. */
export const OperatorHosts = Type.Object(
  {
    by: Type.Literal('operator'),
    /** The credential that names the only host for all credentials. Required with `inject`. */
    credentials_to: Type.Optional(Type.String({ minLength: 1 })),
  },
  strict,
);
export type OperatorHosts = Static<typeof OperatorHosts>;

/**
 * `name`, `name:port`, or with `{credential}` in the place of a label or of the whole: `{subdomain}.example.com`, `{base_url}`.
 */
export const hostPattern = '^([a-z0-9.-]|\\{[A-Za-z0-9_]{1,64}\\})+(:\\d+)?$';

/**
 * Where the broker replaces the placeholder of a credential by its value, and the hosts that may get it. A request that holds a
 * placeholder anywhere else is refused.
 */
export const CredentialPlaces = Type.Object(
  {
    /** Some of the bundle's `hosts`, written in the same way. */
    hosts: Type.Array(Type.String({ pattern: hostPattern, maxLength: 253 }), { maxItems: 100 }),
    places: Type.Array(
      Type.Union([
        /** A header; the name is in lower case. In `authorization`, the placeholder may be inside `Basic`. */
        Type.Object({ in: Type.Literal('header'), name: Type.String({ pattern: '^[a-z0-9-]{1,64}$' }) }, strict),
        /** A member of the query or of a form. */
        Type.Object({ in: Type.Enum(['query', 'form']), name: Type.String({ minLength: 1, maxLength: 128 }) }, strict),
        /** The rest of the path's segment after this prefix, such as `/bot`. */
        Type.Object(
          { in: Type.Literal('path'), prefix: Type.String({ pattern: '^/[A-Za-z0-9._~/-]*$', maxLength: 256 }) },
          strict,
        ),
      ]),
      { maxItems: 32 },
    ),
  },
  strict,
);
export type CredentialPlaces = Static<typeof CredentialPlaces>;

/** A package of Activepieces that the bundle was made from. `quartermaster bundle add` writes it. */
export const PieceOrigin = Type.Object(
  {
    package: Type.String({ minLength: 1, maxLength: 256 }),
    version: Type.String({ minLength: 1, maxLength: 64 }),
    /** That of the archive of the package. */
    integrity: Type.String({ minLength: 1, maxLength: 256 }),
    /** Alternatives: how the members of `credentials` become the authentication of the piece. */
    auth: Type.Array(
      Type.Object(
        {
          kind: Type.Enum(['SECRET_TEXT', 'BASIC_AUTH', 'CUSTOM_AUTH', 'OAUTH2']),
          /** The types that the piece expects, by the names of the credentials. */
          fields: Type.Record(Type.String(), Type.Enum(['text', 'number', 'boolean', 'json'])),
        },
        strict,
      ),
      { maxItems: 10 },
    ),
  },
  strict,
);
export type PieceOrigin = Static<typeof PieceOrigin>;

/** The action of a piece that a plugin calls. */
export const PieceActionCall = Type.Object(
  {
    action: Type.String({ minLength: 1, maxLength: 200 }),
    /** Input parameters whose choices, or whose members, the third party knows. */
    choices: Type.Record(
      Type.String(),
      Type.Object({ kind: Type.Enum(['one', 'many', 'properties']), depends_on: Type.Array(Type.String()) }, strict),
    ),
    /** The names in the piece of input parameters that differ. */
    names: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  strict,
);
export type PieceActionCall = Static<typeof PieceActionCall>;

export const BundleManifest = Type.Object(
  {
    id: Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' }),
    version: Type.String({ pattern: '^\\d+\\.\\d+\\.\\d+$' }),
    name: LocalisedText,
    description: LocalisedText,
    provider: Type.String(),
    developer: Type.String(),
    categories: Type.Optional(Type.Array(Type.Enum([...bundleCategories]), { maxItems: 5, uniqueItems: true })),
    api: Type.Optional(ApiFacts),
    /** The bundle is no longer usable: its plugins are not loaded, and errors name what to use instead. */
    retired: Type.Optional(Retirement),
    /** A file in the bundle's folder: .svg or .png, at most 64 KiB. */
    icon: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]+\\.(svg|png)$' })),
    /** The only hosts that requests of this bundle may reach. Exact names without wildcards. `{credential}` needs `credential_places`. */
    hosts: Type.Union([Type.Array(Type.String({ pattern: hostPattern })), OperatorHosts]),
    /** The JSON Schema of the `credentials` object, with `x-secret: true` on each secret. Absent when none are needed. */
    credentials_schema: Type.Optional(Schema),
    inject: Type.Optional(Type.Array(Injection)),
    /** Instead of `inject`: its handlers get placeholders of the secrets. */
    credential_places: Type.Optional(CredentialPlaces),
    /** Its handlers are actions of a piece, in `piece.cjs`. */
    piece: Type.Optional(PieceOrigin),
    /** Lets end users connect an account. */
    oauth: Type.Optional(OauthDeclaration),
    /** Applies to every call of the bundle: requests, handlers, remote tools and `verify`. */
    errors: Type.Optional(ErrorMapping),
    /** A cheap call that checks whether the credentials work. */
    verify: Type.Optional(Type.Object({ request: RequestTemplate, response: Type.Optional(ResponseMapping) }, strict)),
    limits: Type.Optional(
      Type.Object(
        {
          timeout_ms: Type.Optional(Type.Integer({ minimum: 100, maximum: 600_000 })),
          memory_mb: Type.Optional(Type.Integer({ minimum: 64, maximum: 1024 })),
          /** The processor time of a handler, all threads together. */
          cpu_ms: Type.Optional(Type.Integer({ minimum: 100, maximum: 600_000 })),
          max_response_bytes: Type.Optional(Type.Integer({ minimum: 1024, maximum: 10_485_760 })),
          max_requests: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
        },
        strict,
      ),
    ),
  },
  strict,
);
export type BundleManifest = Static<typeof BundleManifest>;

/** An example call. `upstream` names a file with the recorded response for plugins that call an API. */
export const Example = Type.Object(
  {
    input: Type.Record(Type.String(), Type.Unknown()),
    output: Type.Optional(Type.Unknown()),
    upstream: Type.Optional(Type.String()),
    /** The hosts that this example assumes the operator allows. */
    hosts: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
  },
  strict,
);
export type Example = Static<typeof Example>;

/** A tool of an MCP server that the plugin calls. */
export const RemoteTool = Type.Object(
  {
    /** The URL of the server (Streamable HTTP). Its host is one of the bundle's `hosts`. */
    url: Type.String({ pattern: '^https?://' }),
    /** The name of the tool on the server. */
    tool: Type.String({ minLength: 1, maxLength: 256 }),
    /** The digest of the reviewed definition. A tool with another definition is not called. */
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  },
  strict,
);
export type RemoteTool = Static<typeof RemoteTool>;

export const PluginManifest = Type.Object(
  {
    id: Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' }),
    name: LocalisedText,
    description: LocalisedText,
    /** Differences from the `api` of the bundle. */
    api: Type.Optional(ApiFacts),
    input_schema: Schema,
    output_schema: Schema,
    effects: Type.Enum([...pluginEffects]),
    idempotent: Type.Boolean(),
    /**
     * The credentials that the plugin needs, in the place of those that the bundle requires: all names of one of these lists. An empty list
     * means none.
     */
    credentials: Type.Optional(Type.Array(Type.Array(Type.String()), { minItems: 1, maxItems: 50 })),
    /** Either a declarative request (tier T0) … */
    request: Type.Optional(RequestTemplate),
    response: Type.Optional(ResponseMapping),
    /** … or a file of the bundle's folder that exports `run` (tier T1) … */
    handler: Type.Optional(Type.String({ pattern: '^([a-z0-9-]+\\.(ts|mjs|js)|piece\\.cjs)$' })),
    piece: Type.Optional(PieceActionCall),
    /** … or a tool of an MCP server. */
    mcp: Type.Optional(RemoteTool),
    examples: Type.Optional(Type.Array(Example)),
  },
  strict,
);
export type PluginManifest = Static<typeof PluginManifest>;
