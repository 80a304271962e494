import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countTokens } from '../../../stores/extraction/tokens.ts';
import { boundTextTokens, boundTokens, cutText, restOf } from './answer-size.ts';

const texts = {
  prose: 'The library opens at nine, and closes on Sundays. '.repeat(200),
  code: "  'search.show': '在文档中打开。',\n".repeat(100),
  quotes: '"\\\n\t'.repeat(800),
  chinese: '圖書館每天早上九點開門。'.repeat(300),
  emoji: '🦊👩‍👩‍👧'.repeat(300),
  base64: Buffer.from('random bytes of a picture'.repeat(60)).toString('base64'),
};

for (const [kind, text] of Object.entries(texts)) {
  test(`the bound of a text of ${kind} is at least the tokens of its JSON`, () => {
    assert.ok(boundTextTokens(text, countTokens(text)) >= countTokens(JSON.stringify(text)) - 2);
  });

  test(`a text of ${kind} is cut within the budget, and its parts join to the whole`, async () => {
    let [rest, parts] = [text, 0];
    let joined = '';
    while (rest !== '') {
      const part = await cutText(rest, 300, async (one) => countTokens(one));
      assert.ok(countTokens(JSON.stringify(part)) <= 300);
      assert.ok(part.isWellFormed());
      joined += part;
      rest = restOf(rest, part.length);
      parts += 1;
    }
    assert.equal(joined, text);
    assert.ok(parts > 1, `${parts} parts`);
  });
}

for (const text of ['q7x9z2w4k8', '~^|`{}<>', '𠀀𠀁𠀂', 'ꙮ꙰', 'A usual title. ', '\u0001"']) {
  test(`the bound of a title of ${JSON.stringify(text)} is at least its tokens`, () => {
    const value = { title: text.repeat(20) };
    assert.ok(boundTokens(value, [value.title]) >= countTokens(JSON.stringify(value)));
  });
}

test('the bound of ids and URLs is at least their tokens', () => {
  const value = {
    id: 'quartermaster://collections/collmh3k2abcx81k0zq9w2er/chunks/chnkmh3k2abcx81k0zq9w2er',
    url: 'https://example.org/collections/collmh3k2abcx81k0zq9w2er?project=projmh3k2abcx81k0zq9w2er',
  };
  assert.ok(boundTokens(value) >= countTokens(JSON.stringify(value)));
});
