import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markTerms, termsIn, wordsFound, wordsOf } from './mark-terms.ts';

/** Returns the text with its marked parts in brackets. */
function mark(question: string, text: string): string {
  return markTerms(text, wordsOf(question))
    .map((part) => (part.isMarked ? `[${part.text}]` : part.text))
    .join('');
}

test('a term is marked as a whole word only, in any case', () => {
  assert.equal(mark('the capital', 'Other capitals than THE capital.'), 'Other capitals than [THE] [capital].');
  assert.equal(mark('из', 'Выход из дома, изба'), 'Выход [из] дома, изба');
  assert.equal(mark('Fenster', 'Fensterbrett am Fenster'), 'Fensterbrett am [Fenster]');
  assert.equal(mark('café', 'CAFÉ, cafés'), '[CAFÉ], cafés');
  assert.equal(mark('C++ 17', 'c17, 17, 170, a17'), 'c17, [17], 170, a17');
});

test('in Chinese, Japanese and Korean a term is marked wherever its characters are', () => {
  assert.equal(mark('系统', '操作系统很多，Debian系统'), '操作[系统]很多，Debian[系统]');
  assert.equal(mark('図書館', '県立図書館の図書館員'), '県立[図書館]の[図書館]員');
  assert.equal(mark('도서관', '도서관은 시립도서관이다'), '[도서관]은 시립[도서관]이다');
});

test('a Latin word beside Chinese characters is a whole word', () => {
  assert.equal(mark('Debian', 'Debian系统和debianer'), '[Debian]系统和debianer');
});

test('the longest of several terms is marked, and characters of patterns are literal', () => {
  assert.deepEqual(markTerms('图书馆', ['图书', '图书馆']), [{ text: '图书馆', isMarked: true }]);
  assert.deepEqual(termsIn('the (a+b)* rule', ['(a+b)*', 'rule', 'rul']), ['(a+b)*', 'rule']);
});

test('only the words that the service found in a result are marked', () => {
  const result = (...matched: string[]) => ({ explanation: { words: { matched } } });
  const question = 'How can I contact the IT helpdesk in the libraries?';
  assert.deepEqual(wordsFound(question, [result('contact'), result('librari')]), ['contact', 'libraries']);
  assert.deepEqual(wordsFound(question, [{ explanation: { words: null } }]), []);
  assert.deepEqual(wordsFound('the café', [result('cafe')]), ['café']);
  assert.deepEqual(wordsFound('什么 图书馆', [result('图书', '书馆')]), ['图书', '馆']);
  assert.deepEqual(wordsFound('the café', [{}]), ['the', 'café']);
});

test('a text without a term stays whole', () => {
  assert.deepEqual(markTerms('any text', []), [{ text: 'any text', isMarked: false }]);
});
