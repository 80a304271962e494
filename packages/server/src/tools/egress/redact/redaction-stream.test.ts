import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createRedactor, redacted } from './redactor.ts';

const secret = 'cAnArY/"key"+0123456789';
const pin = '4711';

function streamed(redactor: ReturnType<typeof createRedactor>, bytes: Buffer, sizes: () => number): Buffer {
  const stream = redactor.stream();
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = sizes();
    parts.push(stream.push(Buffer.from(bytes.subarray(at, at + size))));
    at += size;
  }
  return Buffer.concat([...parts, stream.end()]);
}

test('bytes that arrive in chunks are redacted as they are together, wherever the chunks end', () => {
  const redactor = createRedactor([secret, pin]);
  const piece = fc.constantFrom(
    ...[secret, secret.slice(0, 9), encodeURIComponent(secret), Buffer.from(`x${secret}y`).toString('base64'), pin],
    ...['a', ' ', `a${pin}`, '\n', 'x'.repeat(1000), JSON.stringify(secret)],
  );
  const window = Buffer.alloc(256 * 1024 - 20, '.').toString();
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.array(piece, { maxLength: 40 }), (before, after) => {
      // The second pieces lie about where the first window of the stream ends.
      const bytes = Buffer.from(
        [...before, window.slice(before.join('').length % 5000), ...after, window, ...before].join(''),
      );
      const whole = redactor.bytes(bytes);
      assert.ok(streamed(redactor, bytes, () => randomInt(1, 70_000)).equals(whole));
    }),
    { numRuns: 60 },
  );
});

test('a secret that is split between any two chunks is redacted', () => {
  const redactor = createRedactor([secret]);
  for (let at = 1; at < secret.length; at += 1) {
    const bytes = Buffer.from(`${'.'.repeat(600_000 - at)}${secret}${'.'.repeat(600_000)}`);
    const answer = streamed(redactor, bytes, () => 600_000).toString();
    assert.equal(answer, `${'.'.repeat(600_000 - at)}${redacted}${'.'.repeat(600_000)}`);
  }
});

test('bytes that are no text stay as they are', () => {
  const bytes = Buffer.from(Array.from({ length: 700_000 }, (_, index) => (index * 31) % 256));
  assert.ok(streamed(createRedactor([secret]), bytes, () => 4096).equals(bytes));
  assert.ok(streamed(createRedactor([]), bytes, () => 4096).equals(bytes));
});
