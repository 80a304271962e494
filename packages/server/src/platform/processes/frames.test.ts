import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFrameReader, encodeFrame, frameKinds } from './frames.ts';

test('frames arrive complete and in order, however the stream is split', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), fc.integer({ min: 1, max: 200 }), (contents, step) => {
      const stream = Buffer.concat(contents.map((content) => encodeFrame(frameKinds.bytes, content)));
      const read: number[][] = [];
      const push = createFrameReader({
        onFrame: (kind, content) => {
          assert.equal(kind, frameKinds.bytes);
          read.push([...content]);
        },
        maxBytes: () => 50,
        onTooLong: assert.fail,
      });
      for (let at = 0; at < stream.length; at += step) push(stream.subarray(at, at + step));
      assert.deepEqual(
        read,
        contents.map((content) => [...content]),
      );
    }),
  );
});

test('the length of a text frame is its number of bytes', () => {
  const read: string[] = [];
  const push = createFrameReader({
    onFrame: (_kind, content) => read.push(content.toString()),
    maxBytes: () => 50,
    onTooLong: assert.fail,
  });
  push(Buffer.concat(['é', '', '日本', '\n'].map((text) => encodeFrame(frameKinds.message, text))));
  assert.deepEqual(read, ['é', '', '日本', '\n']);
});

test('a frame above the limit ends the reading at its header, before memory is allocated for it', () => {
  let limit = 8;
  const seen: string[] = [];
  const push = createFrameReader({
    onFrame: (_kind, content) => seen.push(content.toString()),
    maxBytes: () => limit,
    onTooLong: () => seen.push('too long'),
  });
  push(encodeFrame(frameKinds.message, '12345678'));
  limit = 7;
  push(Buffer.from([0xff, 0xff, 0xff, 0xff, 0]));
  push(encodeFrame(frameKinds.message, 'ok'));
  assert.deepEqual(seen, ['12345678', 'too long']);
});
