import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countWords, toTermFrequencies } from './chunk-terms.ts';
import { type Language, namedLanguages, stemIn } from './languages.ts';
import { analyseQuestion, matchWords } from './question-terms.ts';
import { languageTerm } from './term-kinds.ts';
import { foldWords, tokenize } from './tokenizer.ts';

const termsOf = (text: string) => toTermFrequencies(countWords(text));

/** Returns whether a one-word question finds the text in an index that has texts of all languages. */
function finds(question: string, text: string): boolean {
  const terms = termsOf(text);
  return analyseQuestion(foldWords(question), namedLanguages).some((word) =>
    [...word.terms, ...word.loose].some((term) => terms.has(term)),
  );
}

// Pairs of forms that the vocabularies of the Snowball project give one stem: github.com/snowballstem/snowball-data.
const forms: ReadonlyArray<readonly [text: string, question: string, language: Language]> = [
  ['This is what the generators were for.', 'generate', 'en'],
  ['Was man mit den Häusern macht, ist nicht bekannt.', 'Haus', 'de'],
  ["C'est ce que dit l'administration de la ville.", 'administrations', 'fr'],
  ['Lo que los usuarios eliminaron no se puede usar.', 'eliminar', 'es'],
  ['Пользователи состоят в группах.', 'группу', 'ru'],
  ['가을에는 도서관에서 책을 읽는다.', '도서관', 'en'],
];

for (const [text, question] of forms) {
  test(`the question "${question}" finds another form of the word`, () => assert.ok(finds(question, text)));
}

test('a text names the language of its stems, unless it is English or follows from the script', () => {
  for (const [text, , language] of forms) {
    const named = namedLanguages.filter((each) => termsOf(text).has(languageTerm(each)));
    assert.deepEqual(named, namedLanguages.includes(language) ? [language] : []);
  }
});

test('a word of a text is one term', () => {
  for (const text of ['The generators were generated.', 'Was man mit den Häusern macht, ist nicht bekannt.']) {
    const terms = [...termsOf(text)].filter(([term]) => !/^[\u0002\u0004]/.test(term));
    assert.equal(
      terms.reduce((sum, [, times]) => sum + times, 0),
      foldWords(text).length,
    );
  }
});

test('numbers, identifiers and words of other scripts have no stems', () => {
  const words = ['pbkdf2', '1963', 'snake_case', 'e.g', 'كتاب', '世', 'हिन्दी', 'ภาษา'];
  for (const language of ['en', ...namedLanguages] as const)
    assert.deepEqual(
      words.map((word) => stemIn(language, word)),
      words,
    );
});

test('a word of a question has one term in an index of English texts, besides that without a language', () => {
  for (const [word, expected] of [
    ['indexes', ['index']],
    ['configuration', ['configur', 'configuration']],
    ['pbkdf2', ['pbkdf2']],
  ] as const)
    assert.deepEqual(
      analyseQuestion([word], []).map(({ terms }) => terms),
      [expected],
    );
});

test('a question has the terms of its words without regard to a language', () => {
  for (const [text] of forms) {
    const terms = new Set(analyseQuestion(foldWords(text), []).flatMap((word) => word.terms));
    for (const term of tokenize(text)) assert.ok(terms.has(term), term);
  }
});

test('stop words count less than other words, in a language of the index or of the question only', () => {
  const factorOf = (languages: readonly Language[], words = ['die']) => analyseQuestion(words, languages)[0]?.factor;
  assert.equal(factorOf(['de']), 0.3);
  assert.equal(factorOf([]), 1);
  assert.equal(factorOf([], ['die', 'ist', 'das']), 0.3);
  assert.equal(factorOf(['de'], ['die', 'what', 'is', 'the']), 1);
});

test('a question matches other forms of the words of a text', () => {
  assert.deepEqual(matchWords(['generate', 'other'], countWords('This is what the generators were for.')), [
    'generate',
  ]);
});

test('the matched words have no stop words, also where punctuation joins them', () => {
  const question = [...countWords('status:is the_and error-code A+').keys()];
  const matched = matchWords(question, countWords('The status is an error, and the code is the_and, status:is, A+.'));
  assert.deepEqual(matched.toSorted(), ['a+', 'code', 'error', 'status', 'status:is']);
});
