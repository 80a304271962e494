import { Type } from 'typebox';
import { CountedList, Success } from '../envelope.ts';
import { Run, RunItem, RunQuery } from '../runs.ts';
import { describeOperations } from './operation.ts';

const RunParams = Type.Object({ run_id: Type.String({ maxLength: 256, description: 'Id.' }) });

export const runOperations = describeOperations('runs', {
  listRuns: {
    summary: 'List runs',
    description:
      'Lists the runs of the project of the key, newest first, with their outcomes and the duration of each phase. Without a key, it lists the runs that were started without a key.',
    scope: 'plugins:read',
    querystring: RunQuery,
    response: { 200: CountedList(RunItem) },
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
    params: RunParams,
    response: { 200: Success(Run) },
    examples: { run: {} },
  },
  cancelRun: {
    summary: 'Cancel a run',
    description:
      'Stops a waiting or running run with its handler and outbound calls. A run that has ended does not change.',
    scope: 'plugins',
    params: RunParams,
    response: { 200: Success(Run) },
    examples: { run: {} },
  },
  followRun: {
    summary: 'Follow a run until it has ended',
    description:
      'Server-sent events (`text/event-stream`): `state` for each change, and `progress`. To continue, send the id of the last event as `Last-Event-ID`; the answer is 204 if that was the last event.',
    scope: 'plugins:read',
    params: RunParams,
    headers: Type.Object({
      'last-event-id': Type.Optional(
        Type.String({ maxLength: 64, description: 'Of the last event that came: it is not sent again.' }),
      ),
    }),
    response: {
      200: { content: { 'text/event-stream': { schema: Type.String() } } },
      204: Type.Null({ description: 'The run has ended, and its last event has come already.' }),
    },
    examples: { run: {} },
  },
});
