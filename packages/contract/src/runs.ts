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
      'Where the time went: waiting for a process, starting one, checking input and output, the plugin itself, the third ' +
      'parties it called. They add up to duration_ms.',
  },
);
export type RunPhases = Static<typeof RunPhases>;

export const RunCall = Type.Object(
  {
    host: Type.String(),
    method: Type.String(),
    status: nullable(Type.Integer({ description: 'Of the answer.' })),
    result: Type.Enum(['answered', 'too_large', 'failed', 'refused'], {
      description: '`refused`: the policy let nothing out.',
    }),
    bytes: Type.Integer({ description: "Of the answer's body, as they came over the wire." }),
    ms: Milliseconds,
  },
  { description: 'One outbound call; redirects count each. Neither path nor query, headers or body.' },
);
export type RunCall = Static<typeof RunCall>;

/** A run as a list item. */
export const RunItem = Type.Object({
  object: Type.Literal('Run'),
  run_id: Type.String(),
  bundle_id: Type.String(),
  plugin_id: nullable(Type.String({ description: 'null: a check of credentials.' })),
  origin: Type.Enum([...runOrigins]),
  isolation: Type.Enum([...isolations], { description: 'The tier it ran in.' }),
  asynchronous: Type.Boolean({ description: 'Asked for with `Prefer: respond-async`.' }),
  status: Type.Enum([...runStatuses]),
  outcome: nullable(Type.Enum([...runOutcomes], { description: 'null until it has ended.' })),
  error_code: nullable(Type.String({ description: 'A code of docs/reference/errors.md.' })),
  upstream_status: nullable(Type.Integer({ description: 'HTTP status of the third party, where it decided.' })),
  created_timestamp: Timestamp,
  duration_ms: nullable(Milliseconds),
  phases: nullable(RunPhases),
});
export type RunItem = Static<typeof RunItem>;

export const RunProgress = Type.Object({
  fraction: Type.Number({ minimum: 0, maximum: 1 }),
  message: nullable(Type.String({ description: 'A text of the plugin.' })),
});
export type RunProgress = Static<typeof RunProgress>;

export const RunError = Type.Object({
  code: Type.String(),
  message: nullable(Type.String({ description: 'null where it could repeat an input that is not kept.' })),
  details: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
});
export type RunError = Static<typeof RunError>;

export const Run = Type.Object({
  ...RunItem.properties,
  progress: nullable(RunProgress),
  error: nullable(RunError),
  output_violations: Type.Integer({ description: 'Ways in which the output broke its schema.' }),
  egress: Type.Array(RunCall),
  egress_left_out: Type.Integer({ description: 'Calls beyond those listed.' }),
  input_params: nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Stored only for projects that keep inputs; credentials are redacted.',
    }),
  ),
  result: nullable(ExecuteResult),
  result_expires_timestamp: nullable(
    Type.Integer({ description: 'Of an asynchronous run that succeeded: its result is kept no longer.' }),
  ),
});
export type Run = Static<typeof Run>;

export const RunQuery = Type.Object({
  ...ListQuery.properties,
  bundle_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  plugin_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  outcome: Type.Optional(
    Type.Enum([...runOutcomes, 'none'], { description: 'How it ended; `none`: it has not ended yet.' }),
  ),
  since: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: lastTime,
      description: 'Made at this time or later; milliseconds.',
    }),
  ),
});
export type RunQuery = Static<typeof RunQuery>;
