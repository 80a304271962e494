import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { createAnswerReader } from './answer-reader.ts';
import { prepareCall } from './declarative.ts';
import { interpretAnswer, leftToThread } from './interpret-answer.ts';

const { response } = prepareCall({ method: 'GET', url: 'https://api.test/' }, {});

/** Returns a response that is longer than the event loop parses. */
function longAnswer(text: string) {
  const body = Buffer.from(`${' '.repeat(90_000)}${JSON.stringify({ text })}`);
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
}

const context = { input: {}, maxOutputBytes: 1024 };

test('long responses are read in turn by project, so that one project with many does not delay another', async () => {
  const reader = createAnswerReader(createAdmission());
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

test('the thread keeps the digits of integers beyond 2^53, also in what an expression returns', async () => {
  const mapping = { output: '{most: max(body.ids), all: body.ids}' };
  const prepared = prepareCall({ method: 'GET', url: 'https://api.test/' }, mapping).response;
  const body = Buffer.from(`${' '.repeat(90_000)}{"ids": [5, 1234567890123456789]}`);
  const { signal } = new AbortController();
  const owner = { projectId: 'proj_a', keyId: null };
  const answer = { status: 200, headers: { 'content-type': 'application/json' }, body };
  const outcome = await createAnswerReader(createAdmission()).read(prepared, answer, { ...context, signal, owner });
  assert.ok(outcome.kind === 'returned', JSON.stringify(outcome));
  assert.deepEqual(outcome.output, { most: 1234567890123456789n, all: [5, 1234567890123456789n] });
});

test('a cancelled run leaves the queue, and the other responses are read', async () => {
  const reader = createAnswerReader(createAdmission());
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

test('the thread evaluates an expression that takes many steps, and the event loop one that takes few', async () => {
  const sorting = { output: '{said: sort_by(body, &to_string(@))}' };
  const sorted = prepareCall({ method: 'GET', url: 'https://api.test/' }, sorting).response;
  const argumentsOf = (items: number) => {
    const body = Buffer.from(JSON.stringify(Array(items).fill({})));
    return [sorted, { status: 200, headers: { 'content-type': 'application/json' }, body }] as const;
  };
  const limits = { ...context, maxOutputBytes: 100_000 };
  const few = interpretAnswer(...argumentsOf(1_000), limits);
  assert.equal(few.kind === 'returned' && (few.output as { said: unknown[] }).said.length, 1_000);
  assert.equal(interpretAnswer(...argumentsOf(20_000), limits), leftToThread);
  const owner = { projectId: 'proj_a', keyId: null };
  const { signal } = new AbortController();
  const many = await createAnswerReader(createAdmission()).read(...argumentsOf(20_000), { ...limits, signal, owner });
  assert.equal(many.kind === 'returned' && (many.output as { said: unknown[] }).said.length, 20_000);
});
