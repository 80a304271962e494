import { describeOperations } from './operation.ts';

export const runOperations = describeOperations('runs', {
  listRuns: {
    summary: 'List runs',
    description:
      'Lists the runs of the project of the key, newest first, with their outcomes and the duration of each phase. Without a key, it lists the runs that were started without a key.',
    scope: 'plugins:read',
    examples: {
      newest: { summary: 'List the newest runs', query: { limit: '10' } },
      succeeded: {
        summary: 'List runs of a plugin that succeeded',
        query: { bundle_id: 'calculator', outcome: 'succeeded' },
      },
    },
  },
  getRun: {
    summary: 'Get a run',
    description:
      'Includes the outbound calls of the run. `result` is set for an asynchronous run that succeeded, until `result_expires_timestamp`.',
    scope: 'plugins:read',
    examples: { run: {} },
  },
  cancelRun: {
    summary: 'Cancel a run',
    description:
      'Stops a waiting or running run with its handler and outbound calls. A run that has ended does not change.',
    scope: 'plugins',
    examples: { run: {} },
  },
  followRun: {
    summary: 'Follow a run until it has ended',
    description:
      'Server-sent events (`text/event-stream`): `state` for each change, and `progress`. To continue, send the id of the last event as `Last-Event-ID`; the answer is 204 if that was the last event.',
    scope: 'plugins:read',
    examples: { run: {} },
  },
});
