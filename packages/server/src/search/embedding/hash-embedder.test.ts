import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHashEmbedder, hashText } from './hash-embedder.ts';
import { fromBytes, similarity, toBytes } from './vectors.ts';

const near = (a: string, b: string) => similarity(hashText(a, 512), hashText(b, 512));

test('the same text has the same vector everywhere, of unit length', () => {
  const vector = hashText('Grüner Tee 緑茶', 16);
  const pinned = [...vector].map((value) => Number(value.toFixed(3)) + 0);
  assert.deepEqual(
    pinned,
    [0, -0.026, 0.193, -0.052, 0, -0.193, 0.49, 0.103, 0, 0.464, 0, -0.052, -0.387, -0.438, 0, -0.335],
  );
  assert.ok(Math.abs(similarity(vector, vector) - 1) < 1e-6);
  assert.deepEqual(fromBytes(toBytes(vector)), vector);
});

test('what is misspelt is near, what is something else is not', () => {
  assert.ok(near('the embarrassing questionnaire', 'the embarassing questionaire') > 0.4);
  assert.ok(near('the embarrassing questionnaire', 'a green mountain lake') < 0.2);
});

test('no text and a very long one have a vector, and an end', async () => {
  const embedder = createHashEmbedder(32);
  const signal = new AbortController().signal;
  const [empty, long] = await embedder.embed(['', 'word '.repeat(100_000)], signal);
  assert.deepEqual([...(empty ?? [])], new Array(32).fill(0));
  assert.equal(long?.length, 32);
  assert.deepEqual(await embedder.embedQuestion('tea', signal), hashText('tea', 32));
});
