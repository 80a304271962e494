import { pluginEffects } from '@quartermaster/contract';
import { type Static, Type } from 'typebox';
import { Injection } from './injection.ts';

/**
 * `bundle.yaml` and `<plugin_id>.yaml`: a bundle is data. `docs/guides/bundles.md` describes it for authors.
 * Unknown members are refused, so that a typing error is an error.
 */
const strict = { additionalProperties: false } as const;

/** A text, or a text for each language (`en` is required then). */
export const LocalisedText = Type.Union([
  Type.String({ minLength: 1 }),
  Type.Object({ en: Type.String({ minLength: 1 }) }, { additionalProperties: { type: 'string', minLength: 1 } }),
]);
export type LocalisedText = Static<typeof LocalisedText>;

const Schema = Type.Object({ type: Type.Literal('object') }, { additionalProperties: true });

/**
 * Any value in which every string may hold placeholders: `{name}` is the input parameter `name`. A string that is
 * nothing but one placeholder takes the parameter with its type; a member whose only placeholder is absent is left out.
 * In a URL each value is percent-encoded. `{{` is a plain brace.
 */
const Template = Type.Unknown();

/** How a list or an object is written where only text can stand. */
export const ParameterStyle = Type.Enum([
  ...(['repeat', 'comma', 'space', 'pipe', 'pairs', 'members', 'deep_object', 'json'] as const),
]);
export type ParameterStyle = Static<typeof ParameterStyle>;
const Styles = Type.Optional(Type.Record(Type.String(), ParameterStyle));

/** An HTTP request as data. The broker adds the credentials as `inject` of the bundle says. */
export const RequestTemplate = Type.Object(
  {
    method: Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'], { default: 'GET' }),
    /** Absolute; its host must be one of the bundle's `hosts`. Placeholders only in the path. */
    url: Type.String({ pattern: '^https?://' }),
    query: Type.Optional(Type.Record(Type.String(), Template)),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    cookies: Type.Optional(Type.Record(Type.String(), Type.String())),
    /** By the name of an input parameter in a path, else by the name under which it is sent. */
    styles: Type.Optional(
      Type.Object({ path: Styles, query: Styles, headers: Styles, cookies: Styles, form: Styles }, strict),
    ),
    /** As `inject` of the bundle, for this request only. */
    inject: Type.Optional(Type.Array(Injection)),
    /** An object or array is sent as JSON. */
    body: Type.Optional(Template),
    /** `multipart`: a form that may hold files. `base64`: the body is base64, and its bytes are sent. */
    body_type: Type.Optional(Type.Enum(['json', 'form', 'multipart', 'base64'])),
    /** Of a multipart body, by the name of its field: the field is base64, and sent as a file. */
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

/** What to make of the upstream's answer. */
export const ResponseMapping = Type.Object(
  {
    /** How the body is read: `json` (default), `xml` (a tree of {name, attributes, text, children}), `text`, `base64` (bytes). */
    format: Type.Optional(Type.Enum(['json', 'xml', 'text', 'base64'])),
    /** JMESPath over {status, headers, body, input}; its result is the output. Without it the body is the output. */
    output: Type.Optional(Type.String()),
    /**
     * JMESPath over the same; a true value means that the upstream refused although its status was 2xx. A string it
     * gives is the message.
     */
    failed_when: Type.Optional(Type.String()),
    /** Statuses that mean "your credentials are bad"; default [401]. */
    credentials_rejected: Type.Optional(Type.Array(Type.Integer())),
    /** JMESPath; true means that a failed answer blames the credentials (some APIs say so with 200 or 400). */
    credentials_rejected_when: Type.Optional(Type.String()),
  },
  strict,
);
export type ResponseMapping = Static<typeof ResponseMapping>;

/** What is known of the API behind a bundle or a plugin, and since when: people judge by it whether it still holds. */
export const ApiFacts = Type.Object(
  {
    /** Where the API is described. */
    documentation: Type.Optional(Type.String({ pattern: '^https://' })),
    /** The month up to which what is known of the API is believed to go. */
    as_of: Type.Optional(Type.String({ pattern: '^20\\d\\d-(0[1-9]|1[0-2])$' })),
    /** Where the payloads of the examples come from. */
    payloads: Type.Optional(Type.String({ minLength: 1 })),
    /** What else there is to know before relying on it: plans, quotas, what it does not do. */
    note: Type.Optional(Type.String({ minLength: 1 })),
  },
  strict,
);
export type ApiFacts = Static<typeof ApiFacts>;

/** The operator says where a bundle may call (`QUARTERMASTER_BUNDLE_HOSTS`): nowhere, until then. */
export const OperatorHosts = Type.Object(
  {
    by: Type.Literal('operator'),
    /** The credential that names the one host to which the others are sent. Needed where there is an `inject`. */
    credentials_to: Type.Optional(Type.String({ minLength: 1 })),
  },
  strict,
);
export type OperatorHosts = Static<typeof OperatorHosts>;

export const BundleManifest = Type.Object(
  {
    id: Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' }),
    version: Type.String({ pattern: '^\\d+\\.\\d+\\.\\d+$' }),
    name: LocalisedText,
    description: LocalisedText,
    provider: Type.String(),
    developer: Type.String(),
    api: Type.Optional(ApiFacts),
    /** A file of the bundle's folder: .svg or .png, at most 64 KiB. */
    icon: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]+\\.(svg|png)$' })),
    /** The only hosts a request of this bundle may go to. Exact names; no wildcard. */
    hosts: Type.Union([Type.Array(Type.String({ pattern: '^[a-z0-9.-]+(:\\d+)?$' })), OperatorHosts]),
    /** JSON Schema of the `credentials` object; `x-secret: true` on each secret. Absent: none are needed. */
    credentials_schema: Type.Optional(Schema),
    inject: Type.Optional(Type.Array(Injection)),
    /** A cheap call that tells whether the credentials work. */
    verify: Type.Optional(Type.Object({ request: RequestTemplate, response: Type.Optional(ResponseMapping) }, strict)),
    limits: Type.Optional(
      Type.Object(
        {
          timeout_ms: Type.Optional(Type.Integer({ minimum: 100, maximum: 600_000 })),
          memory_mb: Type.Optional(Type.Integer({ minimum: 64, maximum: 1024 })),
          /** Processor time of a handler, of all its threads. */
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

/** One worked call. `upstream` names a file with the recorded answer for plugins that call out. */
export const Example = Type.Object(
  {
    input: Type.Record(Type.String(), Type.Unknown()),
    output: Type.Optional(Type.Unknown()),
    upstream: Type.Optional(Type.String()),
    /** Where the operator says which hosts may be called: those this example takes for allowed. */
    hosts: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
  },
  strict,
);
export type Example = Static<typeof Example>;

/** A tool of an MCP server, called by the server in the plugin's name. */
export const RemoteTool = Type.Object(
  {
    /** Where the server is reached (Streamable HTTP); its host must be one of the bundle's `hosts`. */
    url: Type.String({ pattern: '^https?://' }),
    /** The tool's own name. */
    tool: Type.String({ minLength: 1, maxLength: 256 }),
    /** Digest of the tool's definition as it was accepted; a tool that is described otherwise is not called. */
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
    /** What differs from the `api` of the bundle. */
    api: Type.Optional(ApiFacts),
    input_schema: Schema,
    output_schema: Schema,
    effects: Type.Enum([...pluginEffects]),
    idempotent: Type.Boolean(),
    /** Either a declarative request (tier T0) … */
    request: Type.Optional(RequestTemplate),
    response: Type.Optional(ResponseMapping),
    /** … or a file of the bundle's folder that exports `run` (tier T1) … */
    handler: Type.Optional(Type.String({ pattern: '^[a-z0-9-]+\\.(ts|mjs|js)$' })),
    /** … or a tool of an MCP server. */
    mcp: Type.Optional(RemoteTool),
    examples: Type.Optional(Type.Array(Example)),
  },
  strict,
);
export type PluginManifest = Static<typeof PluginManifest>;
