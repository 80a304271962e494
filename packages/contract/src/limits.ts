import { type Static, Type } from 'typebox';
import { ApiKey } from './administration.ts';
import { Timestamp } from './envelope.ts';
import { keyToolPattern } from './scopes.ts';

/** A limit that a client can act on. Source: docs/contract.md "Files". */
export const Limit = Type.Object({
  name: Type.String({ description: 'Unique name; docs/reference/limits.md explains each.' }),
  bounds: Type.String({ description: 'The value that is limited.' }),
  value: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Largest allowed value; null if there is no limit.',
  }),
  unit: Type.String({ description: 'Unit, such as `bytes`, `characters` or `members`.' }),
  status: Type.Integer({ description: 'HTTP status of the answer if the limit is exceeded.' }),
  code: Type.String({ description: 'Error code of that answer.' }),
  setting: Type.Union([Type.String(), Type.Null()], {
    description: 'Setting that changes the limit; null if none does.',
  }),
});
export type Limit = Static<typeof Limit>;

/** The maximum number of rate limits of one project. */
export const maxRateLimits = 200;
const OptionalText = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
export const RateLimit = Type.Object({
  object: Type.Literal('RateLimit'),
  rate_limit_id: Type.String(),
  project_id: Type.String(),
  subject_id: OptionalText(
    '`key_id` or `application_id` that it limits; null: each key and application of the project by itself.',
  ),
  tool: OptionalText('The bundle or plugin whose runs it limits; null: it limits requests.'),
  per_minute: Type.Union([Type.Integer(), Type.Null()]),
  per_day: Type.Union([Type.Integer(), Type.Null()]),
  created_timestamp: Timestamp,
});
export type RateLimit = Static<typeof RateLimit>;

const Rate = (window: string) =>
  Type.Optional(
    Type.Union([Type.Integer({ minimum: 1, maximum: 1_000_000_000 }), Type.Null()], {
      description: `Requests or runs ${window}.`,
    }),
  );
export const RateLimitCreate = Type.Object({
  subject_id: Type.Optional(
    Type.Union([Type.String({ minLength: 1, maxLength: 64 }), Type.Null()], {
      description:
        '`key_id` or `application_id`. If it is null or absent, each key and application of the project has this limit by itself.',
    }),
  ),
  tool: Type.Optional(
    Type.Union([Type.String({ minLength: 1, maxLength: 129, pattern: keyToolPattern }), Type.Null()], {
      description:
        '`bundle_id` or `bundle_id/plugin_id`, whose runs it limits. If it is null or absent, it limits requests.',
    }),
  ),
  per_minute: Rate('in one minute of the clock'),
  per_day: Rate('on one day of UTC'),
});
export type RateLimitCreate = Static<typeof RateLimitCreate>;

/** The key of the request, with what is left of the rate limits that apply to it. */
export const OwnKey = Type.Interface([ApiKey], {
  rate_limits: Type.Array(
    Type.Object({
      rate_limit_id: Type.String(),
      tool: OptionalText('null: it limits requests.'),
      window: Type.Enum(['minute', 'day']),
      limit: Type.Integer(),
      remaining: Type.Integer({
        description: 'What is left in this window. Another process of the service may hold back up to a tenth.',
      }),
      reset_seconds: Type.Integer({ description: 'Seconds until the next window.' }),
    }),
  ),
});
export type OwnKey = Static<typeof OwnKey>;
