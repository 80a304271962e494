import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suggestKeyword } from './check-schema.ts';

test('a misspelt keyword gets a suggestion, an annotation gets none', () => {
  for (const [written, expected] of [
    ['requierd', 'required'],
    ['minLenght', 'minLength'],
    ['desription', 'description'],
    ['readonly', 'readOnly'],
    ['additonalProperties', 'additionalProperties'],
    ['item', 'items'],
  ] as const) {
    assert.equal(suggestKeyword(written), expected);
  }
  const withoutSuggestion = `required minLength $ref $comment not if x-secret example discriminator xml`.split(/\s+/);
  for (const written of [
    ...withoutSuggestion,
    'formatMinimum',
    'externalDocs',
    'errorMessage',
    'enumNames',
    'markdownDescription',
    'ui',
  ]) {
    assert.equal(suggestKeyword(written), undefined, written);
  }
});
