import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Logger } from '../../../platform/log/logger.ts';
import { createMetrics } from '../../../platform/metrics.ts';
import { Problem } from '../../../platform/problem.ts';
import { PageMissing } from '../segments/segment-format.ts';
import type { DistinctQuestion, FindDistinct } from './find-distinct.ts';
import { createQuestionMetrics, limitQuestions } from './limit-questions.ts';

const question: DistinctQuestion = {
  projectId: 'p',
  keyId: null,
  collectionIds: ['c'],
  text: 'red',
  words: ['red'],
  results: 3,
  maxTokens: 9,
  isFirstPage: true,
};

function createLimited(search: FindDistinct<unknown>) {
  const registry = createMetrics();
  const warnings: unknown[] = [];
  const warn = (fields: object, event: string) => warnings.push({ ...fields, event });
  const logger = { warn, error: warn } as unknown as Logger;
  const signals: AbortSignal[] = [];
  const limited = limitQuestions(
    (asked: DistinctQuestion) => {
      if (asked.signal !== undefined) signals.push(asked.signal);
      return search(asked);
    },
    { seconds: 7, logger, metrics: createQuestionMetrics(registry) },
  );
  const ended = async (reason: string) =>
    Number(new RegExp(`questions_ended_total\\{reason="${reason}"\\} (\\d+)`).exec(await registry.metrics())?.[1] ?? 0);
  return { limited, warnings, signals, ended, registry };
}

const never: FindDistinct<unknown> = () => new Promise(() => {});

test('the limit question_seconds ends a search, and names the time and what to do', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { limited, warnings, signals, ended } = createLimited(never);
  const answer = limited(question);
  t.mock.timers.tick(6999);
  assert.equal(signals[0]?.aborted, false);
  t.mock.timers.tick(1);
  await assert.rejects(answer, (error) => {
    assert.ok(error instanceof Problem);
    assert.deepEqual([error.status, error.code, error.headers['Retry-After']], [503, 'SERVICE_UNAVAILABLE', '1']);
    assert.match(error.message, /longer than 7 s and was stopped\. Retry later/);
    return true;
  });
  assert.equal(signals[0]?.aborted, true);
  assert.deepEqual(warnings, [{ collection_id: 'c', duration_ms: 7000, event: 'question timed out' }]);
  assert.deepEqual([await ended('deadline'), await ended('client_gone')], [1, 0]);
});

test('a search ends when its client disconnects, and one that has not begun does not begin', async () => {
  const { limited, warnings, signals, ended } = createLimited(never);
  const client = new AbortController();
  const answer = limited({ ...question, signal: client.signal });
  client.abort();
  await assert.rejects(answer, { name: 'AbortError' });
  assert.equal(signals[0]?.aborted, true);
  await assert.rejects(limited({ ...question, signal: client.signal }), { name: 'AbortError' });
  assert.equal(signals.length, 1);
  assert.deepEqual([await ended('deadline'), await ended('client_gone'), warnings], [0, 1, []]);
});

test('an answer in time leaves no timer and no listener', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const rankings = [{ collectionId: 'c', ranking: 'words', reason: 'no_embedder' }] as const;
  const answered = { hits: [], rankings, isOutdated: false } as const;
  const { limited, signals, ended, registry } = createLimited(async () => answered);
  const client = new AbortController();
  assert.deepEqual(await limited({ ...question, signal: client.signal }), answered);
  t.mock.timers.tick(10_000);
  client.abort();
  assert.equal(signals[0]?.aborted, false);
  assert.deepEqual([await ended('deadline'), await ended('client_gone')], [0, 0]);
  assert.match(await registry.metrics(), /questions_answered_total\{ranking="words",reason="no_embedder"\} 1/);
});

test('a question that misses a page of the index logs the collection and the command that repairs it', async () => {
  const failing = (error: Error) => createLimited(() => Promise.reject(error));
  const missing = new PageMissing();
  const damaged = failing(missing);
  await assert.rejects(damaged.limited(question), missing);
  const remedy = 'Run "quartermaster fsck --repair" to rebuild the search index of the collection.';
  assert.deepEqual(damaged.warnings, [{ collection_id: 'c', remedy, err: missing, event: 'search index damaged' }]);
  const other = failing(new Error('other'));
  await assert.rejects(other.limited(question), /^Error: other$/);
  assert.deepEqual(other.warnings, []);
});
