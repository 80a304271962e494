import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnswerReader } from './answer-reader.ts';
import { prepareCall } from './declarative.ts';

const { response } = prepareCall({ method: 'GET', url: 'https://api.test/' }, {});

/** Returns a response that is longer than the event loop parses. */
function longAnswer(text: string) {
  const body = Buffer.from(`${' '.repeat(90_000)}${JSON.stringify({ text })}`);
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
}

const context = { input: {}, takesCredentials: false, maxOutputBytes: 1024 };

test('long responses are read in turn by project, so that one project with many does not delay another', async () => {
  const reader = createAnswerReader();
  const { signal } = new AbortController();
  const read: string[] = [];
  const ask = async (projectId: string, text: string) => {
    const outcome = await reader.read(response, longAnswer(text), {
      ...context,
      signal,
      owner: { projectId, keyId: null },
    });
    assert.equal(outcome.kind, 'returned', JSON.stringify(outcome));
    read.push(text);
  };
  const many = ['a1', 'a2', 'a3', 'a4'].map((text) => ask('proj_a', text));
  await Promise.all([...many, ask('proj_b', 'b1')]);
  assert.deepEqual(read, ['a1', 'a2', 'b1', 'a3', 'a4']);
});

test('a cancelled run leaves the queue, and the other responses are read', async () => {
  const reader = createAnswerReader();
  const cancelled = new AbortController();
  const owner = { projectId: 'proj_a', keyId: null };
  const signals = [new AbortController().signal, cancelled.signal, new AbortController().signal];
  const reading = signals.map((signal, index) =>
    reader.read(response, longAnswer(`${index}`), { ...context, signal, owner }),
  );
  cancelled.abort();
  const outcomes = await Promise.all(reading);
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ['returned', 'cancelled', 'returned'],
  );
});
