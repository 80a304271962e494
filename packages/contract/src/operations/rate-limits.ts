import { describeOperations } from './operation.ts';

export const rateLimitOperations = describeOperations('projects', {
  listRateLimits: {
    summary: 'List the rate limits of a project',
    description: '`GET /v1/key` tells the holder of a key which of them apply to it, and what is left.',
    scope: 'admin',
    examples: { limits: {} },
  },
  createRateLimit: {
    summary: 'Create a rate limit',
    description:
      'Limits requests, or the runs of a bundle or plugin, in each minute and on each day. All limits that apply are counted. Every process applies it within two seconds.',
    scope: 'admin',
    examples: { limit: { body: { subject_id: '$KEY_ID', per_minute: 600, per_day: 100_000 } } },
  },
  deleteRateLimit: {
    summary: 'Delete a rate limit',
    description: 'Every process stops to apply it within two seconds.',
    scope: 'admin',
    examples: { limit: {} },
  },
});
