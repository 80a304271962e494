import { type Static, Type } from 'typebox';
import { OutputArtifact } from './artifacts.ts';
import { ErrorDetail } from './envelope.ts';

/** Bundles, plugins and their execution. Source: docs/contract.md "Catalogue"; docs/contract.md "Execution"; docs/contract.md "Bundles and plugins". */

export const pluginEffects = ['read', 'write', 'destructive'] as const;
export type PluginEffects = (typeof pluginEffects)[number];
/** `none`: no code of the bundle runs. `process`: handlers run in a restricted child process. */
export const isolations = ['none', 'process', 'sandbox'] as const;
export type Isolation = (typeof isolations)[number];

/** `bundle`: the bundle declares its `hosts`. `operator`: the operator allows hosts; until then there are none. */
export const hostsBy = ['bundle', 'operator'] as const;

/** Most are those of the framework of pieces. `information`: search engines, news, weather and other knowledge. */
export const bundleCategories = [
  'accounting',
  'artificial_intelligence',
  'business_intelligence',
  'commerce',
  'communication',
  'content_and_files',
  'customer_support',
  'developer_tools',
  'forms_and_surveys',
  'human_resources',
  'information',
  'marketing',
  'payment_processing',
  'productivity',
  'sales_and_crm',
  'utilities',
] as const;
export type BundleCategory = (typeof bundleCategories)[number];

const JsonSchemaObject = Type.Record(Type.String(), Type.Unknown(), {
  description: 'JSON Schema 2020-12 whose root has `type: object`.',
});

export const Bundle = Type.Object({
  object: Type.Literal('Bundle'),
  bundle_id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  provider: Type.String(),
  developer: Type.String(),
  categories: Type.Array(Type.Enum([...bundleCategories])),
  credentials_schema: JsonSchemaObject,
  hosts: Type.Array(Type.String()),
  hosts_by: Type.Enum([...hostsBy]),
  num_plugins: Type.Integer(),
  version: Type.String(),
  icon_url: Type.Union([Type.String(), Type.Null()]),
  isolation: Type.Enum([...isolations]),
  unavailable: Type.Union([Type.String(), Type.Null()], {
    description:
      'Why no plugin of the bundle can run on this service, and the remedy. null: they can, with their credentials.',
  }),
  verified: Type.Union([Type.Object({ against: Type.String(), date: Type.String() }), Type.Null()], {
    description:
      'The source, with its date, that requests and answers of the bundle were compared with. null: unverified.',
  }),
  retired: Type.Union(
    [Type.Object({ date: Type.String(), reason: Type.String(), successor: Type.String() }), Type.Null()],
    { description: 'Since when and why the bundle cannot be used, and what to use instead. null: it can be used.' },
  ),
  piece: Type.Optional(
    Type.Object(
      {
        package: Type.String(),
        version: Type.String(),
        credential_hosts: Type.Array(Type.String(), { description: 'The only hosts that get the credential.' }),
        credential_places: Type.Array(Type.String(), {
          description: 'The only places of requests that get the credential, such as `header:authorization`.',
        }),
      },
      { description: 'The package that the bundle was installed from.' },
    ),
  ),
});
export type Bundle = Static<typeof Bundle>;

/** `properties`: the third party determines which members the input has. */
export const optionKinds = ['one', 'many', 'properties'] as const;
export type OptionKind = (typeof optionKinds)[number];

const PropertyChoices = Type.Object({
  kind: Type.Enum([...optionKinds], {
    description: 'One value, many values, or an object whose members are `properties`.',
  }),
  depends_on: Type.Array(Type.String(), { description: 'Other inputs that determine the values.' }),
});

export const Plugin = Type.Object({
  object: Type.Literal('Plugin'),
  bundle_id: Type.String(),
  plugin_id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  input_schema: JsonSchemaObject,
  output_schema: JsonSchemaObject,
  effects: Type.Enum([...pluginEffects]),
  idempotent: Type.Boolean(),
  choices: Type.Optional(
    Type.Record(Type.String(), PropertyChoices, {
      description: 'Inputs whose values the third party knows; `POST …/options` lists the values.',
    }),
  ),
});
export type Plugin = Static<typeof Plugin>;

/** The definition formats of a plugin: those of model providers, of MCP and of TaskingAI's plugin server. */
export const definitionFormats = [
  'openai',
  'openai-strict',
  'openai-responses',
  'anthropic',
  'gemini',
  'mcp',
  'taskingai',
] as const;
export type DefinitionFormat = (typeof definitionFormats)[number];

/** Something that a format cannot represent. Every loss is reported. */
export const DefinitionLoss = Type.Object({
  kind: Type.Enum(['rewritten', 'described', 'dropped', 'unsupported'], {
    description:
      '`rewritten`: expressed in another way. `described`: moved into a description. `dropped`: left out. `unsupported`: this ' +
      'format cannot fully express the plugin.',
  }),
  path: Type.String({ description: 'JSON Pointer into the plugin, with references resolved.' }),
  message: Type.String(),
});
export type DefinitionLoss = Static<typeof DefinitionLoss>;

export const PluginDefinition = Type.Object({
  object: Type.Literal('PluginDefinition'),
  bundle_id: Type.String(),
  plugin_id: Type.String(),
  format: Type.Enum([...definitionFormats]),
  definition: Type.Record(Type.String(), Type.Unknown(), {
    description: 'One tool in the format of the provider. Add it to the list of tools unchanged.',
  }),
  losses: Type.Array(DefinitionLoss),
});
export type PluginDefinition = Static<typeof PluginDefinition>;

/** A plugin as TaskingAI's plugin server lists it, with the losses of that format. */
export const FlatPlugin = Type.Object({
  object: Type.Literal('Plugin'),
  bundle_id: Type.String(),
  plugin_id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  input_schema: Type.Record(Type.String(), Type.Unknown(), {
    description: 'Flat map: each parameter name maps to type, name, description and required.',
  }),
  output_schema: Type.Record(Type.String(), Type.Unknown(), { description: 'Flat map, like `input_schema`.' }),
  losses: Type.Array(DefinitionLoss),
});
export type FlatPlugin = Static<typeof FlatPlugin>;

const identifier = { minLength: 1, maxLength: 64 } as const;
const Identifier = Type.String(identifier);
/** The maximum number of top-level members of `input_params`. */
const maxInputMembers = 10_000;
/** The maximum number of members of `credentials`. */
export const maxCredentials = 32;
const Named = Type.Record(Type.String(), Type.Unknown(), { maxProperties: maxInputMembers });
const Credentials = Type.Record(Type.String(), Type.Unknown(), {
  maxProperties: maxCredentials,
  description:
    'At most 32 credentials of at most 8 KiB each and 32 KiB together (names and values in UTF-8). Undeclared credentials are ignored.',
  'x-secret': true,
});

/** The plugin of a run, its input and the credentials. */
export interface PluginCall {
  readonly bundle_id: string;
  readonly plugin_id: string;
  readonly input_params: Record<string, unknown>;
  readonly credentials: Record<string, unknown>;
}

/** The ids of a plugin. */
export const PluginIds = Type.Object({ bundle_id: Identifier, plugin_id: Identifier });

/** `bundle_id/plugin_id`. */
export const maxToolName = 129;

export const ExecuteRequest = Type.Object({
  bundle_id: Type.Optional(
    Type.String({ ...identifier, description: 'The bundle of the plugin. Required without `tool_name`.' }),
  ),
  plugin_id: Type.Optional(
    Type.String({ ...identifier, description: 'The plugin in the bundle. Required without `tool_name`.' }),
  ),
  tool_name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: maxToolName,
      description:
        'Instead of `plugin_id`: the name of the tool that a model called, as a list of tools in any format has it, or ' +
        '`bundle_id/plugin_id`. `bundle_id` is then optional; it decides when several bundles have a tool of this name.',
    }),
  ),
  input_params: Named,
  credentials: Credentials,
});
export type ExecuteRequest = Static<typeof ExecuteRequest>;

export const ExecuteResult = Type.Object({
  status: Type.Literal(200),
  data: Type.Unknown({ description: 'Output of the plugin, described by its `output_schema`.' }),
  run_id: Type.String(),
  duration_ms: Type.Number(),
  output_violations: Type.Optional(Type.Array(ErrorDetail)),
  artifacts: Type.Optional(
    Type.Array(OutputArtifact, { description: 'Binary and large parts of the output, which are stored.' }),
  ),
  contents: Type.Optional(
    Type.Array(Type.Unknown(), {
      description:
        'Pictures, sounds, links and resources that a tool of an imported MCP server returned beside its structured output, as contents of MCP.',
    }),
  ),
});
export type ExecuteResult = Static<typeof ExecuteResult>;

export const VerifyCredentialsRequest = Type.Object({ bundle_id: Identifier, credentials: Credentials });
export type VerifyCredentialsRequest = Static<typeof VerifyCredentialsRequest>;

/** The maximum number of values in one answer. */
export const maxOptions = 500;

export const OptionsRequest = Type.Object({
  property: Type.String({ minLength: 1, maxLength: 200, description: 'A name in `choices` of the plugin.' }),
  input_params: Type.Record(Type.String(), Type.Unknown(), {
    maxProperties: maxInputMembers,
    description: 'The inputs that are known, at least those in `depends_on`.',
  }),
  credentials: Credentials,
  search: Type.Optional(
    Type.String({ maxLength: 200, description: 'Only values whose label or value contains this.' }),
  ),
});
export type OptionsRequest = Static<typeof OptionsRequest>;

export const PropertyOptions = Type.Object({
  object: Type.Literal('PropertyOptions'),
  kind: Type.Enum([...optionKinds]),
  options: Type.Array(
    Type.Object({ label: Type.String(), value: Type.Unknown({ description: 'The value to send as input.' }) }),
    { maxItems: maxOptions },
  ),
  has_more: Type.Boolean({ description: 'Whether there are more values. `search` narrows them down.' }),
  hint: Type.Union([Type.String(), Type.Null()], {
    description: 'What the plugin says, such as that an input is missing.',
  }),
  schema: Type.Union([JsonSchemaObject, Type.Null()], { description: 'The members of the input for `properties`.' }),
});
export type PropertyOptions = Static<typeof PropertyOptions>;
