import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meantKeyword } from './meant-keyword.ts';

test('a keyword that is nearly one is told, and remarks of others are left alone', () => {
  for (const [written, meant] of [
    ['requierd', 'required'],
    ['minLenght', 'minLength'],
    ['desription', 'description'],
    ['readonly', 'readOnly'],
    ['additonalProperties', 'additionalProperties'],
    ['item', 'items'],
  ] as const) {
    assert.equal(meantKeyword(written), meant);
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
    assert.equal(meantKeyword(written), undefined, written);
  }
});
