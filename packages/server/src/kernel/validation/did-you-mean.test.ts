import assert from 'node:assert/strict';
import { test } from 'node:test';
import { didYouMean } from './did-you-mean.ts';

test('a misspelt keyword gets a suggestion, an annotation gets none', () => {
  for (const [written, meant] of [
    ['requierd', 'required'],
    ['minLenght', 'minLength'],
    ['desription', 'description'],
    ['readonly', 'readOnly'],
    ['additonalProperties', 'additionalProperties'],
    ['item', 'items'],
  ] as const) {
    assert.equal(didYouMean(written), meant);
  }
  const left = [
    'required',
    'minLength',
    '$ref',
    '$comment',
    'not',
    'if',
    'x-secret',
    'example',
    'discriminator',
    'xml',
  ];
  for (const written of [
    ...left,
    'formatMinimum',
    'externalDocs',
    'errorMessage',
    'enumNames',
    'markdownDescription',
    'ui',
  ]) {
    assert.equal(didYouMean(written), undefined, written);
  }
});
