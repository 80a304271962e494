import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exactQuestionTerm } from './exact-question.ts';

test('case, accents, width, blanks and the marks around a question make no difference', () => {
  const term = exactQuestionTerm('Où est la clé ?');
  for (const same of ['où est la clé', '  OÙ EST\n LA CLE??', '«Ou est la cle.»', 'Ｏù est la clé？'])
    assert.equal(exactQuestionTerm(same), term, same);
});

test('other words, another order and marks within a question make a difference', () => {
  const questions = ['What is C?', 'What is C++?', 'What is C#?', 'is what C', 'What is C, please?', 'What is Java?'];
  assert.equal(new Set(questions.map(exactQuestionTerm)).size, questions.length);
});

test('a question that is empty, consists of marks or is too long has no term', () => {
  assert.equal(exactQuestionTerm(''), null);
  assert.equal(exactQuestionTerm(' ?!'), null);
  assert.equal(exactQuestionTerm('x'.repeat(1_001)), null);
  assert.notEqual(exactQuestionTerm('x'.repeat(1_000)), null);
});
