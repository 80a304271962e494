import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentOf, toStoredContent } from './chunk-content.ts';

const pair = { content: 'How long?\n\nA day.\n\nOr two.', question: 'How long?', answer: 'A day.\n\nOr two.' };

test('the content of a pair is not stored, and follows from its question and answer', () => {
  assert.equal(toStoredContent(pair), '');
  assert.equal(contentOf({ ...pair, content: '' }), pair.content);
});

test('a content that differs from question and answer is stored, as is that of other chunks', () => {
  const chunks = [
    { ...pair, content: 'How long?\nA day.\n\nOr two.' },
    { content: 'text', question: null, answer: null },
    { content: 'text', question: 'text', answer: null },
  ];
  for (const chunk of chunks) {
    assert.equal(toStoredContent(chunk), chunk.content);
    assert.equal(contentOf(chunk), chunk.content);
  }
});
