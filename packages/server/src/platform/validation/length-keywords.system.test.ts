import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { replaceLengthKeywords } from './length-keywords.ts';

const options = { strict: false } as const;

test('texts have the same lengths and the same errors as with the keywords of Ajv', () => {
  const texts = fc.array(fc.constantFrom('a', '😀', '\ud83d', '\ude00', 'é'), { maxLength: 8 });
  const bound = fc.record({ keyword: fc.constantFrom('maxLength', 'minLength'), limit: fc.nat(6) });
  fc.assert(
    fc.property(texts, bound, (pieces, { keyword, limit }) => {
      const text = pieces.join('');
      const schema = { type: 'string', [keyword]: limit };
      const [ours, engines] = [replaceLengthKeywords(new Ajv(options)), new Ajv(options)].map((ajv) => {
        const validate = ajv.compile(schema);
        return [validate(text), validate.errors];
      });
      assert.deepEqual(ours, engines);
    }),
    { numRuns: 300 },
  );
});
