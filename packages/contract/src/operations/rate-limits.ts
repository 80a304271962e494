import { Type } from 'typebox';
import { Acknowledgement, CountedList, ListQuery, Success } from '../envelope.ts';
import { RateLimit, RateLimitCreate } from '../limits.ts';
import { describeOperations } from './operation.ts';
import { Id, keyOrSession, ProjectParams } from './request-parts.ts';

export const rateLimitOperations = describeOperations('projects', {
  listRateLimits: {
    summary: 'List the rate limits of a project',
    description: '`GET /v1/key` tells the holder of a key which of them apply to it, and what is left.',
    scope: 'admin',
    security: keyOrSession,
    params: ProjectParams,
    querystring: ListQuery,
    response: { 200: CountedList(RateLimit) },
    examples: { limits: {} },
  },
  createRateLimit: {
    summary: 'Create a rate limit',
    description:
      'Limits requests, or the runs of a bundle or plugin, in each minute and on each day. All limits that apply are counted. Every process applies it within two seconds.',
    scope: 'admin',
    security: keyOrSession,
    params: ProjectParams,
    body: RateLimitCreate,
    response: { 200: Success(RateLimit) },
    examples: { limit: { body: { subject_id: '$KEY_ID', per_minute: 600, per_day: 100_000 } } },
  },
  deleteRateLimit: {
    summary: 'Delete a rate limit',
    description: 'Every process stops to apply it within two seconds.',
    scope: 'admin',
    security: keyOrSession,
    params: Type.Object({ project_id: Id, rate_limit_id: Id }),
    response: { 200: Acknowledgement },
    examples: { limit: {} },
  },
});
