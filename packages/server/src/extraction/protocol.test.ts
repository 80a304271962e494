import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFrameReader, frameKinds, parseFromChild, toFrame, toMessageFrame } from './protocol.ts';

test('frames arrive whole and in order, however the stream is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), fc.integer({ min: 1, max: 20 }), (contents, step) => {
      const stream = Buffer.concat(contents.map((content) => toFrame(frameKinds.bytes, content)));
      const read: number[][] = [];
      const push = createFrameReader((kind, content) => {
        assert.equal(kind, frameKinds.bytes);
        read.push([...content]);
      });
      for (let at = 0; at < stream.length; at += step) push(stream.subarray(at, at + step));
      assert.deepEqual(
        read,
        contents.map((content) => [...content]),
      );
    }),
  );
});

test('a frame of absurd length is an error, not an allocation', () => {
  const push = createFrameReader(() => assert.fail('there is no frame'));
  assert.throws(() => push(Buffer.from([0xff, 0xff, 0xff, 0xff, 0])), RangeError);
});

test('what a child says is believed only in the shape it has', () => {
  const content = (message: unknown) => Buffer.from(JSON.stringify(message));
  const chunk = { ordinal: 0, content: 'x', numTokens: 1, metadata: {}, words: 'x' };
  assert.ok(parseFromChild(content({ type: 'batch', chunks: [chunk], reportedRows: [] })));
  assert.ok(parseFromChild(toMessageFrame({ type: 'ready' }).subarray(5)));
  for (const wrong of [
    null,
    [],
    'ready',
    { type: 'job' },
    { type: 'done' },
    { type: 'batch', chunks: [{ ...chunk, words: [1] }], reportedRows: [] },
    { type: 'batch', chunks: [{ ...chunk, content: 1 }], reportedRows: [] },
    { type: 'batch', chunks: {}, reportedRows: [] },
    { type: 'batch', chunks: [], reportedRows: [{ row: 2, code: 'no_such_code' }] },
  ]) {
    assert.throws(() => parseFromChild(content(wrong)), TypeError);
  }
  assert.throws(() => parseFromChild(Buffer.from('{')));
});
