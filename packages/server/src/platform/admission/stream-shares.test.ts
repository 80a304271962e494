import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../metrics.ts';
import { createAdmission } from './admission.ts';
import { createStreamShares, streamLimits } from './stream-shares.ts';

const never = new AbortController().signal;
const refused = { code: 'TOO_MANY_REQUESTS' };

function open() {
  const exceeded: string[] = [];
  const metrics = createMetrics();
  const admission = createAdmission({ metrics });
  const shares = createStreamShares({ countExceeded: (limit) => exceeded.push(limit), admission });
  const enter = (projectId: string | null, keyId: string | null, signal = never) =>
    shares.enter({ projectId, keyId }, signal);
  const fill = (count: number, projectId: string | null, keyOf: (n: number) => string | null) =>
    Array.from({ length: count }, (_, n) => enter(projectId, keyOf(n)));
  return { enter, fill, exceeded, metrics };
}

test('the limit event_streams_of_key does not affect other keys, and an ended stream frees its place', async () => {
  const { enter, fill, exceeded, metrics } = open();
  const [leave = assert.fail()] = fill(streamLimits.ofKey, 'a', () => 'key');
  assert.throws(() => enter('a', 'key'), refused);
  assert.deepEqual(exceeded, ['event_streams_of_key']);
  enter('a', 'other');
  leave();
  leave();
  enter('a', 'key');
  assert.throws(() => enter('a', 'key'), refused);
  assert.match(
    await metrics.metrics(),
    new RegExp(`^quartermaster_queue_running\\{queue="event_streams"\\} ${streamLimits.ofKey + 1}$`, 'm'),
  );
});

test('the limit event_streams_of_project does not affect other projects', () => {
  const { enter, fill, exceeded } = open();
  fill(streamLimits.ofProject, 'a', (n) => `key ${n}`);
  assert.throws(() => enter('a', 'new key'), refused);
  assert.deepEqual(exceeded, ['event_streams_of_project']);
  enter('b', 'key of b');
});

test('callers without a key share the places of one project', () => {
  const { enter, fill } = open();
  fill(streamLimits.ofProject, null, () => null);
  assert.throws(() => enter(null, null), refused);
  enter('a', 'key');
});

test('the limit event_streams_of_process applies to all projects together', () => {
  const { enter, exceeded } = open();
  for (let project = 0; project < streamLimits.ofProcess; project++) enter(`project ${project}`, 'key');
  assert.throws(() => enter('another', 'key'), refused);
  assert.deepEqual(exceeded, ['event_streams_of_process']);
});

test('an aborted request frees its place, also when it was aborted before it entered', () => {
  const { enter, fill } = open();
  const gone = new AbortController();
  enter('a', 'key', AbortSignal.abort());
  enter('a', 'key', gone.signal);
  fill(streamLimits.ofKey - 1, 'a', () => 'key');
  assert.throws(() => enter('a', 'key'), refused);
  gone.abort();
  enter('a', 'key');
});
