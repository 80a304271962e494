import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { ApiError, TimeoutError } from './errors.ts';
import { RecordFailedError } from './resources/records.ts';
import { RunFailedError } from './resources/runs.ts';
import {
  hangUp,
  json,
  type ReceivedRequest,
  type Responder,
  refusal,
  startScriptedServer,
  success,
} from './testing/scripted-server.ts';
import { type WaitIntervals, waitUntilSettled } from './wait.ts';

const record = (status: string, more: object = {}) => ({ collection_id: 'c', record_id: 'r', status, ...more });
const creating = success(record('creating'));
const ready = success(record('ready', { num_chunks: 3 }));

/** Responds with these pieces of a stream of events, and ends it unless it stays open. */
function events(pieces: readonly string[], { staysOpen = false } = {}): Responder {
  return (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.flushHeaders();
    for (const piece of pieces) response.write(piece);
    if (!staysOpen) response.end();
  };
}

const eventOf = (state: object) => `event: record\ndata: ${JSON.stringify(state)}\n\n`;
const isEvents = ({ url }: ReceivedRequest) => url.endsWith('/events');
const isCreation = ({ method }: ReceivedRequest) => method === 'POST';

/** Responds to creations, streams and reads by turns of their own. */
function respondInOrder(
  streams: readonly Responder[],
  reads: readonly Responder[],
  creation: Responder = creating,
): Responder {
  let [nextStream, nextRead] = [0, 0];
  return (response, request) => {
    if (isCreation(request)) return creation(response, request);
    const list = isEvents(request) ? streams : reads;
    const turn = isEvents(request) ? nextStream++ : nextRead++;
    list[Math.min(turn, list.length - 1)]?.(response, request);
  };
}

test('wait follows the events, reports each state and gives the whole record', async (t) => {
  const stream = events([': hello\n\n', eventOf(record('creating', { num_chunks: 1 })), eventOf(record('ready'))]);
  const { client, requests } = await startScriptedServer(t, respondInOrder([stream], [creating, ready]));
  const states: unknown[] = [];
  const done = await client.records
    .create('c', { content: 'a' })
    .wait({ onProgress: ({ status, num_chunks }) => states.push([status, num_chunks]) });
  assert.deepEqual(done, record('ready', { num_chunks: 3 }));
  assert.deepEqual(states, [
    ['creating', undefined],
    ['creating', 1],
    ['ready', undefined],
    ['ready', 3],
  ]);
  assert.equal(requests.length, 4, 'the creation, two reads and one stream');
});

const cuts: ReadonlyArray<readonly [what: string, stream: Responder]> = [
  ['in the middle of a line', events(['event: record\ndata: {"sta'])],
  ['by the connection', (response) => response.write('data: a\n', () => response.destroy())],
  ['before the response', hangUp],
  ['with data that is not JSON', events(['event: record\ndata: {"sta\n\n'])],
  ['because too many streams are open', refusal(429, 'TOO_MANY_REQUESTS')],
  ['by a restart', refusal(503, 'SERVICE_UNAVAILABLE')],
];
for (const [what, stream] of cuts) {
  test(`wait goes on after a stream that is cut ${what}`, async (t) => {
    const { client, requests } = await startScriptedServer(t, respondInOrder([stream], [creating, ready]));
    const { status } = await client.records.wait('c', 'r');
    assert.equal(status, 'ready');
    assert.equal(requests.filter(isEvents).length, 1);
  });
}

/**
 * Waits for a record at another pace.
 * @param limitsMs the limit that the test does not expect to be reached is long, because a busy machine delays responses
 */
async function waitFor(server: { url: string }, limitsMs: Pick<WaitIntervals, 'firstEventMs' | 'silenceMs'>) {
  const base = `${server.url}/v1/records/r`;
  return await waitUntilSettled(
    {
      name: 'Record r',
      read: async (signal) => ((await (await fetch(base, { signal })).json()) as { data: { status: string } }).data,
      follow: (signal) => fetch(`${base}/events`, { signal }),
      isSettled: ({ status }) => status !== 'creating',
      stateOf: ({ data }) => data,
    },
    {},
    { ...limitsMs, firstPauseMs: 1, longestPauseMs: 4 },
  );
}

test('wait reads the record at intervals when a proxy holds the events back', async (t) => {
  const reads = [creating, creating, creating, ready];
  for (const held of [events([], { staysOpen: true }), (() => undefined) as Responder]) {
    const server = await startScriptedServer(t, respondInOrder([held], reads));
    assert.equal((await waitFor(server, { firstEventMs: 200, silenceMs: 60_000 })).status, 'ready');
    assert.equal(server.requests.filter(isEvents).length, 1, 'one stream is enough to see it');
    assert.equal(server.requests.length, 5);
  }
});

test('wait opens a stream again that has become silent', async (t) => {
  const dead = events([eventOf(record('creating'))], { staysOpen: true });
  const server = await startScriptedServer(t, respondInOrder([dead], [creating, creating, ready]));
  assert.equal((await waitFor(server, { firstEventMs: 60_000, silenceMs: 50 })).status, 'ready');
  assert.equal(server.requests.filter(isEvents).length, 2);
});

test('wait survives a service that is down between two reads', async (t) => {
  const { connect } = await startScriptedServer(t, respondInOrder([hangUp], [creating, hangUp, hangUp, ready]));
  assert.equal((await connect({ maxRetries: 0 }).records.wait('c', 'r')).status, 'ready');
});

test('wait ends with TimeoutError, with the reason of its signal, or with the error of its callback', async (t) => {
  const open: ServerResponse[] = [];
  const stream: Responder = (response) => {
    open.push(response);
    response.writeHead(200).write(eventOf(record('creating')));
  };
  const { client } = await startScriptedServer(t, respondInOrder([stream], [creating]));
  await assert.rejects(client.records.wait('c', 'r', { timeout: 30 }), (error) => {
    assert.ok(error instanceof TimeoutError);
    return /Record r was not settled within 30 ms\. It is still being processed\./.test(error.message);
  });
  const reason = new Error('closed');
  const stop = new AbortController();
  setTimeout(() => stop.abort(reason), 30);
  await assert.rejects(client.records.wait('c', 'r', { signal: stop.signal }), reason);
  await assert.rejects(client.records.wait('c', 'r', { signal: AbortSignal.abort(reason) }), reason);
  const onProgress = () => {
    throw reason;
  };
  await assert.rejects(client.records.wait('c', 'r', { onProgress }), reason);
  assert.ok(open.length <= 2);
});

test('a failed record is a RecordFailedError with its code, and a partial one is not', async (t) => {
  const error = { code: 'file_encrypted', message: 'The file is protected.' };
  const failed = await startScriptedServer(t, respondInOrder([hangUp], [success(record('error', { error }))]));
  await assert.rejects(failed.client.records.wait('c', 'r'), (caught) => {
    assert.ok(caught instanceof RecordFailedError);
    assert.equal(caught.message, 'Record r failed: The file is protected.');
    return caught.code === 'file_encrypted' && caught.record.status === 'error';
  });
  const partial = await startScriptedServer(t, respondInOrder([hangUp], [success(record('partial'))]));
  assert.equal((await partial.client.records.wait('c', 'r')).status, 'partial');
});

test('a refused creation and a deleted record end the wait', async (t) => {
  const refused = await startScriptedServer(
    t,
    respondInOrder([hangUp], [ready], refusal(422, 'REQUEST_VALIDATION_ERROR')),
  );
  await assert.rejects(refused.client.records.create('c', {}).wait(), { code: 'REQUEST_VALIDATION_ERROR' });
  const gone = await startScriptedServer(t, respondInOrder([hangUp], [refusal(404, 'OBJECT_NOT_FOUND')]));
  await assert.rejects(gone.client.records.wait('c', 'r'), ApiError);
});

test('a run is followed to its result, or to a RunFailedError', async (t) => {
  const run = (more: object) => success({ run_id: 'r', bundle_id: 'b', plugin_id: 'p', status: 'running', ...more });
  const stream = events(['event: progress\ndata: {"fraction":0.5,"message":null}\n\n']);
  const ended = run({ status: 'ended', outcome: 'succeeded', result: { data: { sum: 2 } } });
  const server = await startScriptedServer(t, respondInOrder([stream], [run({}), ended], run({})));
  const progress: unknown[] = [];
  const done = await server.client.plugins.start('b/p', {}).wait({
    onProgress: (state) => {
      if ('progress' in state && state.progress !== undefined) progress.push(state.progress);
    },
  });
  assert.deepEqual(done.result?.data, { sum: 2 });
  assert.deepEqual(progress, [{ fraction: 0.5, message: null }]);
  assert.equal(server.requests[0]?.headers.prefer, 'respond-async');

  const error = { code: 'PROVIDER_ERROR', message: 'The third party failed.' };
  const failed = await startScriptedServer(
    t,
    respondInOrder([hangUp], [run({ status: 'ended', outcome: 'upstream_failed', error })], json({})),
  );
  await assert.rejects(failed.client.runs.wait('r'), (caught) => {
    assert.ok(caught instanceof RunFailedError);
    return caught.code === 'PROVIDER_ERROR' && caught.message === 'Run r of b/p failed: The third party failed.';
  });
});
