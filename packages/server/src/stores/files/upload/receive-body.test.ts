import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { MinimumRate } from '../../../platform/concurrency/minimum-rate.ts';
import { Problem } from '../../../platform/problem.ts';
import { receiveBody } from './receive-body.ts';

const patient: MinimumRate = { idle: 10_000, grace: 10_000, bytesPerSecond: 1 };
const problem = (code: string) => (error: unknown) => error instanceof Problem && error.code === code;

describe('a body', () => {
  test('is passed on in order and ends', async () => {
    const seen: string[] = [];
    await receiveBody(
      Readable.from([Buffer.from('a'), Buffer.from('b')], { objectMode: false }),
      (chunk) => {
        seen.push(chunk.toString());
        return undefined;
      },
      patient,
    );
    assert.equal(seen.join(''), 'ab');
  });

  test('is not read while the consumer asks to wait, and that time does not count', async () => {
    let busy = false;
    let count = 0;
    await receiveBody(
      Readable.from([Buffer.from('a'), Buffer.from('b'), Buffer.from('c')]),
      async () => {
        assert.ok(!busy);
        busy = true;
        await pause(60);
        busy = false;
        count += 1;
      },
      { idle: 40, grace: 0, bytesPerSecond: 20 },
    );
    assert.equal(count, 3);
  });

  test('stops with the error of the consumer and is not destroyed', async () => {
    const body = new PassThrough();
    body.write('x');
    const refusal = new Error('no');
    const throwing = receiveBody(
      body,
      () => {
        throw refusal;
      },
      patient,
    );
    await assert.rejects(throwing, refusal);
    assert.ok(!body.destroyed && body.isPaused());
    const rejecting = receiveBody(body, () => Promise.reject(refusal), patient);
    body.resume();
    body.write('y');
    await assert.rejects(rejecting, refusal);
  });

  test('is refused when it breaks off', async () => {
    const body = new PassThrough();
    body.write('x');
    const receiving = receiveBody(body, () => undefined, patient);
    body.destroy(new Error('ECONNRESET'));
    await assert.rejects(receiving, problem('INVALID_REQUEST'));
    await assert.rejects(
      receiveBody(body, () => undefined, patient),
      problem('INVALID_REQUEST'),
    );
  });

  test('is refused when no more bytes arrive', async () => {
    const receiving = receiveBody(new PassThrough(), () => undefined, { ...patient, idle: 30 });
    await assert.rejects(receiving, problem('REQUEST_TIMEOUT'));
  });

  test('is refused after the grace time when it arrives too slowly', async () => {
    const body = new PassThrough();
    const drip = setInterval(() => body.write('x'), 5);
    const receiving = receiveBody(body, () => undefined, { idle: 60, grace: 100, bytesPerSecond: 100_000 });
    await assert.rejects(
      receiving,
      (error: unknown) => error instanceof Problem && /less than 100000 bytes/.test(error.message),
    );
    clearInterval(drip);
  });
});
