import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Run } from '@quartermaster/contract';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createStreamShares } from '../../platform/admission/stream-shares.ts';
import { everyPermission } from '../../platform/permissions.ts';
import { Problem } from '../../platform/problem.ts';
import { createRunEvents } from './run-events.ts';

const run: Run = {
  ...{ object: 'Run', run_id: 'xrun', bundle_id: 'echo', plugin_id: 'say', origin: 'execute', isolation: 'none' },
  ...{ asynchronous: true, status: 'running', outcome: null, error_code: null, upstream_status: null },
  ...{ created_timestamp: 1, duration_ms: null, phases: null, progress: null, error: null, output_violations: 0 },
  ...{ egress: [], egress_left_out: 0, input_params: null, result: null, result_expires_timestamp: null },
};

const onePlace = () =>
  createStreamShares({ admission: createAdmission(), limits: { ofKey: 1, ofProject: 1, ofProcess: 1 } });

test('an event stream sends a comment at intervals, and the number of streams is limited', async () => {
  const store = { watch: () => ({ stop: () => {} }) };
  const bounds = { shares: onePlace(), pollMs: 5, heartbeatMs: 1 };
  const events = createRunEvents({ ...bounds, runs: { get: async () => run }, store });
  const selection = { projectId: null, permissions: everyPermission, keyId: null, runId: 'xrun' };
  const gone = new AbortController();
  const stream = await events.follow(selection, gone.signal);
  assert.ok(stream !== null);
  await assert.rejects(
    events.follow(selection, gone.signal),
    (error) => error instanceof Problem && error.code === 'TOO_MANY_REQUESTS',
  );
  const lines: string[] = [];
  for await (const text of stream) {
    lines.push(text);
    if (lines.length === 3) gone.abort();
  }
  assert.match(lines[0] ?? '', /^id: \S+\nevent: state\ndata: \{.*"status":"running".*\}\n\n$/);
  assert.deepEqual(lines.slice(1), [': still here\n\n', ': still here\n\n']);
  const next = await events.follow(selection, new AbortController().signal);
  assert.ok(next !== null, 'the place of a stream that has ended is free');
  events.close();
  for await (const text of next) assert.fail(text);
});

test('a client that disconnects before its stream begins uses no place', async () => {
  const store = { watch: () => ({ stop: () => {} }) };
  const events = createRunEvents({
    ...{ shares: onePlace(), pollMs: 5, heartbeatMs: 1, store },
    runs: { get: async () => run },
  });
  const selection = { projectId: null, permissions: everyPermission, keyId: null, runId: 'xrun' };
  const gone = new AbortController();
  const following = events.follow(selection, gone.signal);
  gone.abort();
  await following;
  assert.ok((await events.follow(selection, new AbortController().signal)) !== null);
  events.close();
});
