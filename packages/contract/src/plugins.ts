import { type Static, Type } from 'typebox';

/** Bundles, plugins and their execution. Source: interface §2, §4.2–4.4; CONTRACT "Bundles and plugins". */

export const pluginEffects = ['read', 'write', 'destructive'] as const;
export type PluginEffects = (typeof pluginEffects)[number];
/** `none`: no code of the bundle runs. `process`: handlers run in a restricted child process. */
export const isolations = ['none', 'process', 'sandbox'] as const;
export type Isolation = (typeof isolations)[number];

const JsonSchemaObject = Type.Record(Type.String(), Type.Unknown(), {
  description: 'JSON Schema 2020-12, root `type: object`.',
});

export const Bundle = Type.Object({
  object: Type.Literal('Bundle'),
  bundle_id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  provider: Type.String(),
  developer: Type.String(),
  credentials_schema: JsonSchemaObject,
  hosts: Type.Array(Type.String()),
  num_plugins: Type.Integer(),
  version: Type.String(),
  icon_url: Type.Union([Type.String(), Type.Null()]),
  isolation: Type.Enum([...isolations]),
});
export type Bundle = Static<typeof Bundle>;

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
});
export type Plugin = Static<typeof Plugin>;

const Identifier = Type.String({ minLength: 1, maxLength: 64 });
const Named = Type.Record(Type.String(), Type.Unknown());

export const ExecuteRequest = Type.Object({
  bundle_id: Identifier,
  plugin_id: Identifier,
  input_params: Named,
  credentials: Named,
});
export type ExecuteRequest = Static<typeof ExecuteRequest>;

export const OutputViolation = Type.Object({ path: Type.String(), message: Type.String() });
export type OutputViolation = Static<typeof OutputViolation>;

export const ExecuteResult = Type.Object({
  status: Type.Literal(200),
  data: Type.Unknown({ description: "The plugin's output, by its output_schema." }),
  run_id: Type.String(),
  duration_ms: Type.Number(),
  output_violations: Type.Optional(Type.Array(OutputViolation)),
});
export type ExecuteResult = Static<typeof ExecuteResult>;

export const VerifyCredentialsRequest = Type.Object({ bundle_id: Identifier, credentials: Named });
export type VerifyCredentialsRequest = Static<typeof VerifyCredentialsRequest>;
