import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { createLargeAnswerReceivers, maxLargeAnswersAtOnce } from './large-answers.ts';

async function* bytes(): AsyncGenerator<Buffer> {
  yield Buffer.from('an answer');
}

test('the limit large_answers_of_process holds for the runs of a process, until they end', async () => {
  const discarded: number[] = [];
  const receive = async () => {
    const discard = async () => void discarded.push(1);
    return { head: Buffer.alloc(0), isComplete: true, keep: async () => null, discard };
  };
  const open = createLargeAnswerReceivers({ receive }, createAdmission());
  const answer = () => ({ contentType: 'text/plain', body: bytes() });
  const runs = Array.from({ length: maxLargeAnswersAtOnce }, (_, n) => open({ projectId: `${n}`, keyId: null }));
  for (const run of runs) await run.receive(answer());
  assert.ok(runs.every((run) => run.take()?.bytes != null));
  const further = open({ projectId: 'further', keyId: null });
  await further.receive(answer());
  assert.deepEqual(further.take(), { contentType: 'text/plain', bytes: null });
  await runs[0]?.end();
  await further.receive(answer());
  assert.ok(further.take()?.bytes != null);
  await Promise.all([further, ...runs.slice(1)].map((run) => run.end()));
  assert.equal(discarded.length, maxLargeAnswersAtOnce + 1);
});

test('a process that stores nothing receives no large answer', async () => {
  const run = createLargeAnswerReceivers(undefined, createAdmission())({ projectId: 'p', keyId: null });
  assert.equal(run.take(), undefined);
  await run.receive({ contentType: undefined, body: bytes() });
  assert.deepEqual(run.take(), { contentType: undefined, bytes: null });
});
