import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languageOfPassage } from './passage-language.ts';

// The first article of the Universal Declaration of Human Rights, as published by the United Nations.
const passages = {
  zh: '人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。',
  ja: 'すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。',
  ko: '모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.',
  ru: 'Все люди рождаются свободными и равными в своем достоинстве и правах.',
  el: 'Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.',
  ar: 'يولد جميع الناس أحراراً متساوين في الكرامة والحقوق.',
  hi: 'सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।',
} as const;

for (const [language, text] of Object.entries(passages)) {
  test(`a passage in the script of ${language} has that language, also with a Latin name in it`, () => {
    assert.equal(languageOfPassage(text), language);
    assert.equal(languageOfPassage(`Article 1: ${text}`), language);
  });
}

test('a passage in Latin letters, or without letters, has no known language', () => {
  for (const text of ['Alle Menschen sind frei und gleich an Würde und Rechten geboren.', '12.5 %', '']) {
    assert.equal(languageOfPassage(text), '');
  }
});
