import { describeOperations } from './operation.ts';

export const runOperations = describeOperations('runs', {
  listRuns: {
    summary: 'List runs',
    description:
      'Runs of the project of the key, newest first: how they ended and how long each phase took. Without a key, the runs that were started without one.',
    scope: 'plugins',
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
      'Names the outbound calls of the run. `result` is set for an asynchronous run that succeeded, until `result_expires_timestamp`.',
    scope: 'plugins',
    examples: { run: {} },
  },
  cancelRun: {
    summary: 'Cancel a run',
    description:
      'Ends the handler and the outbound calls of a run that waits or runs. A run that has ended stays as it is.',
    scope: 'plugins',
    examples: { run: {} },
  },
  followRun: {
    summary: 'Follow a run until it has ended',
    description:
      'Server-sent events (`text/event-stream`): `state` for each change, and `progress`. Send the id of the last event as `Last-Event-ID` to continue; 204 when it was the end.',
    scope: 'plugins',
    examples: { run: {} },
  },
});
