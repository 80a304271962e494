import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acknowledgement, listEnvelope, successEnvelope } from './envelope.ts';

test('the envelopes have the members and the order of the wire format', () => {
  const answers = [
    acknowledgement,
    successEnvelope({ id: 'a' }),
    listEnvelope({ items: ['a', 'b'], hasMore: true }),
    listEnvelope({ items: ['a'], hasMore: true, total: { count: 2, isExact: true } }),
  ];
  assert.deepEqual(
    answers.map((answer) => JSON.stringify(answer)),
    [
      '{"status":"success"}',
      '{"status":"success","data":{"id":"a"}}',
      '{"status":"success","data":["a","b"],"fetched_count":2,"has_more":true}',
      '{"status":"success","data":["a"],"fetched_count":1,"has_more":true,"total_count":2,"total_count_is_exact":true}',
    ],
  );
});
