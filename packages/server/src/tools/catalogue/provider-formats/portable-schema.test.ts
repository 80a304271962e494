import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { portable } from './portable-schema.ts';

const _maybeText = { type: ['string', 'null'], description: 'A text.', minLength: 2, default: null };

/** Schemas with constructs that clients reject, and their portable forms. */
const rewritten = {
  'keywords of one type go to its alternative, and annotations stay': `{"type":["string","null"],"description":"A text.","minLength":2,"default":null} ⇒ {"description":"A text.","default":null,"anyOf":[{"type":"string","minLength":2},{"type":"null"}]}`,
  'listed values go to the alternative of their type': `{"type":["string","integer","null"],"enum":["a",1,null]} ⇒ {"anyOf":[{"type":"string","enum":["a"]},{"type":"integer","enum":[1]},{"type":"null"}]}`,
  'an alternative without a listed value is left out': `{"type":["string","null"],"enum":["a","b"]} ⇒ {"type":"string","enum":["a","b"]}`,
  'a constant has one type': `{"type":["string","number"],"const":1.5} ⇒ {"type":"number","const":1.5}`,
  'a list without a possible value accepts nothing': `{"type":["string","null"],"const":1} ⇒ {"not":{}}`,
  'a list with one type is that type': `{"type":["string"],"maxLength":3} ⇒ {"type":"string","maxLength":3}`,
  'numbers include integers': `{"type":["integer","number","null"],"minimum":1} ⇒ {"anyOf":[{"type":"number","minimum":1},{"type":"null"}]}`,
  'a bound of numbers goes to integers where these are the only numbers': `{"type":["integer","string"],"minimum":1,"pattern":"^x"} ⇒ {"anyOf":[{"type":"integer","minimum":1},{"type":"string","pattern":"^x"}]}`,
  'alternatives that allow only listed types replace the list': `{"type":["object","null"],"anyOf":[{"type":"object","required":["a"]},{"type":"null"}]} ⇒ {"anyOf":[{"type":"object","required":["a"]},{"type":"null"}]}`,
  'other alternatives apply together with the types': `{"type":["array","string"],"anyOf":[{"maxLength":1},{"minItems":1}],"items":{"type":"string"}} ⇒ {"allOf":[{"anyOf":[{"maxLength":1},{"minItems":1}]},{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"string"}]}]}`,
  'conditions stay beside the alternatives': `{"type":["object","null"],"properties":{"a":{"type":"string"}},"unevaluatedProperties":false,"not":{"const":{}}} ⇒ {"unevaluatedProperties":false,"not":{"const":{}},"anyOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"null"}]}`,
  'any items are a schema': `{"type":"array","items":true} ⇒ {"type":"array","items":{}}`,
  'no items after a tuple are a bound': `{"type":"array","prefixItems":[{"type":"string"}],"items":false} ⇒ {"type":"array","prefixItems":[{"type":"string"}],"maxItems":1}`,
  'a schema without such constructs stays': `{"type":"string","enum":["a"]} ⇒ {"type":"string","enum":["a"]}`,
};

const values = [
  ...[null, true, 0, 1, 1.5, -3, '', 'a', 'b', 'ab', 'xa', 'abcd', {}, { a: 'x' }, { a: 1 }, { b: 1 }],
  ...[[], ['a'], ['a', 'b'], [1], [null]],
];

for (const [title, row] of Object.entries(rewritten)) {
  test(`portable schemas: ${title}`, () => {
    const [schema, expected] = row.split(' ⇒ ').map((text) => JSON.parse(text));
    const result = portable(schema);
    assert.deepEqual(result, expected);
    const [before, after] = [schema, result].map((each) => new Ajv2020({ strict: false }).compile(each));
    for (const value of values) assert.equal(after?.(value), before?.(value), JSON.stringify(value));
  });
}

test('portable schemas: true and false become objects', () => {
  assert.deepEqual([portable(true), portable(false)], [{}, { not: {} }]);
});
