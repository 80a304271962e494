import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { McpAnswer } from './answer-batch.ts';
import { answerBatch, isOrdinaryBatch } from './answer-batch.ts';
import { maxBatchAnswerBytes } from './batch-limits.ts';

const request = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' });
const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
const jsonOf = (bytes: number) => Buffer.from(`"${'x'.repeat(bytes - 2)}"`);
const answered = (body: McpAnswer['body'], status = 200): McpAnswer => ({ status, headers: [], body });

/**
 * Returns the ids of the messages that run when the first of three has a result of this many bytes, and the last
 * result.
 */
async function runAfter(bytes: number) {
  const run: unknown[] = [];
  const { status, body } = await answerBatch([1, 2, 3].map(request), async (message) => {
    const id = Reflect.get(Object(message), 'id');
    run.push(id);
    return answered(id === 1 ? jsonOf(bytes) : Buffer.from('{}'));
  });
  assert.ok(Buffer.isBuffer(body));
  return { status, run, last: JSON.parse(body.toString()).at(-1) };
}

test('the limit mcp_batch_answer_bytes runs messages after answers of exactly its size, and none after one byte more', async () => {
  assert.deepEqual(await runAfter(maxBatchAnswerBytes - 2), { status: 200, run: [1, 2, 3], last: {} });
  const { status, run, last } = await runAfter(maxBatchAnswerBytes + 1);
  assert.deepEqual([status, run, last.id, last.error.code], [200, [1], 3, -32000]);
});

test('the messages of a batch run one after another, and notifications have no response', async () => {
  let running = 0;
  const { body } = await answerBatch([request(1), notification, request(2)], async (message) => {
    running += 1;
    assert.equal(running, 1);
    await new Promise((resolve) => void setImmediate(resolve));
    running -= 1;
    const id = Reflect.get(Object(message), 'id');
    return id === undefined ? answered(null, 202) : answered(Buffer.from(String(id)));
  });
  assert.equal(String(body), '[1,2]');
  assert.equal((await answerBatch([notification], async () => answered(null, 202))).status, 202);
});

test('a batch whose HTTP request is refused has that refusal as its response', async () => {
  const refused = answered(Buffer.from('{}'), 406);
  assert.equal((await answerBatch([request(1), request(2)], async () => refused)).status, 406);
});

test('only a list of messages without initialize is answered message by message', () => {
  const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'a', version: '1' } };
  const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
  assert.equal(isOrdinaryBatch([request(1), notification]), true);
  for (const other of [[], request(1), [5], [request(1), {}], [request(1), initialize]]) {
    assert.equal(isOrdinaryBatch(other), false, JSON.stringify(other));
  }
});
