import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFrameReader, frameKinds, parseFromChild, toFrame } from './protocol.ts';

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
  const parse = (message: unknown) => parseFromChild(Buffer.from(JSON.stringify(message)));
  const row = { row: 2, code: 'empty_answer', excerpt: '', fields: { question: '', answer: '', metadata: {} } };
  assert.ok(parse({ type: 'rows', rows: [row] }));
  assert.ok(parse({ type: 'ready' }));
  for (const wrong of [
    null,
    [],
    'ready',
    { type: 'job' },
    { type: 'done' },
    { type: 'rows', rows: {} },
    { type: 'rows', rows: [{ ...row, code: 'no_such_code' }] },
    { type: 'chunks', chunks: [] },
  ]) {
    assert.throws(() => parse(wrong), TypeError);
  }
  assert.throws(() => parseFromChild(Buffer.from('{')));
});
