import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readServerEvents } from './server-events.ts';

/** Reads a stream that arrives in these pieces. */
async function read(...pieces: string[]) {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(encoder.encode(piece));
      controller.close();
    },
  });
  return await Array.fromAsync(readServerEvents(body));
}

const event = (data: string, rest: Partial<{ id: string; name: string }> = {}) => ({
  id: null,
  name: 'message',
  data,
  ...rest,
});

const streams: ReadonlyArray<readonly [what: string, pieces: string[], events: unknown[]]> = [
  ['one event', ['event: state\nid: 7\ndata: a\n\n'], [event('a', { id: '7', name: 'state' })]],
  ['data of several lines', ['data: a\ndata:b\ndata:  c\n\n'], [event('a\nb\n c')]],
  ['CRLF, also cut in the middle', ['data: a\r', '\n\r\ndata: b\r\n', '\r\n'], [event('a'), event('b')]],
  ['CR alone', ['data: a\r\rdata: b\r\r\n'], [event('a'), event('b')]],
  ['comments, retry and unknown fields', [': hello\n\nretry: 99999999\nfoo\ndata: a\n\n'], [event('a')]],
  ['a line cut in the middle', ['da', 'ta: Grü', 'n\n', '\n'], [event('Grün')]],
  ['an end without a blank line', ['data: a\n\ndata: b\n'], [event('a')]],
  ['an end in the middle of a line', ['data: a\n\ndata: {"b'], [event('a')]],
  ['an empty stream', [], []],
];

for (const [what, pieces, events] of streams) {
  test(`a stream of events with ${what} is read`, async () => {
    assert.deepEqual(await read(...pieces), events);
  });
}

test('an event without an end is refused instead of buffered', async () => {
  const line = `data: ${'a'.repeat(1024 * 1024)}\n`;
  await assert.rejects(read(...Array.from({ length: 17 }, () => line)), /longer than 16777216 characters/);
});

test('a stream may be longer than the longest event', async () => {
  const text = `data: ${'a'.repeat(1024 * 1024)}\n\n`;
  assert.equal((await read(...Array.from({ length: 17 }, () => text))).length, 17);
});
