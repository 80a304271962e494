import { type Static, Type } from 'typebox';
import { ListQuery, lastTime, Timestamp } from './envelope.ts';
import { ExecuteResult, isolations } from './plugins.ts';
import { runOrigins, runOutcomes, runStatuses } from './vocabulary.ts';

/** Runs of plugins: the plugin, the outcome and the timings. Source: docs/contract.md "Bundles and plugins". */

const Milliseconds = Type.Number({ description: 'Milliseconds.' });
const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);

export const RunPhases = Type.Object(
  {
    queue_ms: Milliseconds,
    start_ms: Milliseconds,
    validate_ms: Milliseconds,
    plugin_ms: Milliseconds,
    upstream_ms: Milliseconds,
  },
  {
    description:
      'Milliseconds of each phase: waiting for a process, starting it, validating input and output, the plugin, and the ' +
      'third parties that it called. Their sum is `duration_ms`.',
  },
);
export type RunPhases = Static<typeof RunPhases>;

export const RunCall = Type.Object(
  {
    host: Type.String(),
    method: Type.String(),
    status: nullable(Type.Integer({ description: 'HTTP status of the answer; null without an answer.' })),
    result: Type.Enum(['answered', 'too_large', 'failed', 'refused'], {
      description: '`refused`: the egress policy did not allow the request, and nothing was sent.',
    }),
    bytes: Type.Integer({ description: "Bytes of the answer's body on the wire, before decompression." }),
    ms: Milliseconds,
  },
  {
    description:
      'One outbound call. Each redirect is a call of its own. Path, query, headers and body are not recorded.',
  },
);
export type RunCall = Static<typeof RunCall>;

/** A run as a list item. */
export const RunItem = Type.Object({
  object: Type.Literal('Run'),
  run_id: Type.String(),
  bundle_id: Type.String(),
  plugin_id: nullable(Type.String({ description: 'Id of the plugin; null for a verification of credentials.' })),
  origin: Type.Enum([...runOrigins]),
  isolation: Type.Enum([...isolations], { description: 'Tier in which the plugin ran.' }),
  asynchronous: Type.Boolean({ description: 'Whether the run was requested with `Prefer: respond-async`.' }),
  status: Type.Enum([...runStatuses]),
  outcome: nullable(Type.Enum([...runOutcomes], { description: 'Outcome of the run; null until it ends.' })),
  error_code: nullable(Type.String({ description: 'Error code; docs/reference/errors.md lists all codes.' })),
  upstream_status: nullable(
    Type.Integer({ description: 'HTTP status of the third party if it determined the outcome.' }),
  ),
  output_violations: Type.Integer({ description: 'Number of places where the output violated its schema.' }),
  created_timestamp: Timestamp,
  duration_ms: nullable(Milliseconds),
  phases: nullable(RunPhases),
});
export type RunItem = Static<typeof RunItem>;

export const RunProgress = Type.Object({
  fraction: Type.Number({ minimum: 0, maximum: 1 }),
  message: nullable(Type.String({ description: 'Text from the plugin.' })),
});
export type RunProgress = Static<typeof RunProgress>;

export const RunError = Type.Object({
  code: Type.String(),
  message: nullable(
    Type.String({ description: 'Error message; null if it could repeat an input that is not stored.' }),
  ),
  details: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
});
export type RunError = Static<typeof RunError>;

export const Run = Type.Object({
  ...RunItem.properties,
  progress: nullable(RunProgress),
  error: nullable(RunError),
  egress: Type.Array(RunCall),
  egress_left_out: Type.Integer({ description: 'Number of calls that are not listed.' }),
  input_params: nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Stored only for projects that keep inputs; credentials are redacted.',
    }),
  ),
  result: nullable(ExecuteResult),
  result_expires_timestamp: nullable(
    Type.Integer({ description: 'Time at which the result of a successful asynchronous run is deleted.' }),
  ),
});
export type Run = Static<typeof Run>;

export const RunQuery = Type.Object({
  ...ListQuery.properties,
  bundle_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  plugin_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  outcome: Type.Optional(
    Type.Enum([...runOutcomes, 'none'], {
      description: 'Return only runs with this outcome; `none` returns runs that have not ended.',
    }),
  ),
  since: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: lastTime,
      description: 'Return only runs created at or after this time, in milliseconds.',
    }),
  ),
});
export type RunQuery = Static<typeof RunQuery>;
