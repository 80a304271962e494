import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeLimits } from '../../cut-text.ts';
import { deepestJson, readJsonValues } from './json-values.ts';
import { createLabels, jsonLabelLimits, readJson, readJsonLines } from './read-json.ts';

const textsOf = (json: string) => readJson(Buffer.from(json)).blocks.map((block) => block.text);

test('the items of the outermost list are paragraphs whose lines name their values', () => {
  const books = [
    { title: 'Dune', authors: [{ name: 'Frank', born: 1920 }], tags: ['desert', 'spice'], out: false },
    { title: 'Emma', sequel: null, series: [], shelf: {} },
  ];
  const [first, second, ...others] = textsOf(JSON.stringify(books, null, 2));
  assert.equal(first, 'title: Dune\nauthors[1].name: Frank\nauthors[1].born: 1920\ntags: desert, spice\nout: false');
  assert.equal(second, 'title: Emma\nsequel: null\nseries: []\nshelf: {}');
  assert.deepEqual(others, []);
});

test('the members of a root object keep their order and their whole path', () => {
  const library = {
    name: 'Library',
    days: ['Mo', 'Tu'],
    address: { city: 'Bergen', floors: [1, 2] },
    books: [{ title: 'Dune' }, { title: 'Emma' }],
    open: true,
  };
  assert.deepEqual(textsOf(JSON.stringify(library)), [
    'name: Library\ndays: Mo, Tu',
    'address.city: Bergen\naddress.floors: 1, 2',
    'books.title: Dune',
    'books.title: Emma',
    'open: true',
  ]);
});

test('numbers keep their digits, and repeated names all their values', () => {
  const text =
    '{"id": 12345678901234567890, "price": 1.10, "a": 1, "a": 2, "__proto__": "x", "é\\n\\u00e9": "\\ud83d\\ude00"}';
  assert.deepEqual(textsOf(text), ['id: 12345678901234567890\nprice: 1.10\na: 1\na: 2\n__proto__: x\né\né: 😀']);
});

test('long texts and texts of several lines are paragraphs of their own', () => {
  const long = 'word '.repeat(60).trim();
  assert.deepEqual(textsOf(JSON.stringify([{ id: 1, body: long, note: 'a\nb', end: 2 }])), [
    'id: 1',
    `body: ${long}`,
    'note: a\nb',
    'end: 2',
  ]);
});

test('every value of a document that JSON.parse accepts is found, in order', () => {
  const value = JSON.parse('{"a":[1,[2,{"b":["x",{}]}],[]],"c":{"d":{"e":"y"}},"f":-0.5e+10}') as unknown;
  const leaves = (node: unknown): unknown[] => {
    if (typeof node !== 'object' || node === null) return [node];
    const members = Object.values(node);
    return members.length === 0 ? [Array.isArray(node) ? '[]' : '{}'] : members.flatMap(leaves);
  };
  const found = Array.from(readJsonValues(JSON.stringify(value)), ({ text }) => text);
  assert.deepEqual(found, leaves(value).map(String));
});

test('a text is refused exactly when JSON.parse refuses it', () => {
  const good = '{"a":[1,"b\\"",{"c":null}],"d":-1.5e3,"e":"\\u00e9"} ';
  const texts = Array.from({ length: good.length }, (_, at) => good.slice(0, at));
  for (const bad of ['[1 2]', '"\t"', '"\\x"', ...`[1,] {"a":1,} {a:1} ['a'] 01 1. .5 +1 [} {"a"}`.split(/\s+/)])
    texts.push(bad);
  for (let at = 0; at < good.length; at += 1) texts.push(`${good.slice(0, at)}]${good.slice(at + 1)}`);
  for (const text of [...texts, good]) {
    const outcome = (read: () => void) => {
      try {
        read();
        return 'read';
      } catch {
        return 'refused';
      }
    };
    const expected = outcome(() => JSON.parse(text));
    assert.equal(
      outcome(() => Array.from(readJsonValues(text))),
      expected,
      text,
    );
  }
});

test('an invalid text is damaged, and the error names its position', () => {
  assert.throws(() => readJson(Buffer.from('{"a": 1,\n "b": x}')), {
    code: 'file_damaged',
    message: /line 2, column 7/,
  });
});

test('the limit document_json_depth accepts documents of its depth, and long documents take linear time', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`;
  assert.deepEqual(textsOf(nested(deepestJson)).length, 1);
  for (const depth of [deepestJson + 1, 1_000_000])
    assert.throws(() => readJson(Buffer.from(nested(depth))), { code: 'file_damaged', message: /nested too deep/ });
  const digits = '9'.repeat(5_000_000);
  assert.equal(textsOf(`[${digits}]`)[0], digits);
  assert.equal(textsOf(`["${'\\n'.repeat(2_000_000)}"]`)[0]?.length, 2_000_000);
  assert.equal(textsOf(`[${'{"a":1},'.repeat(200_000)}{}]`).length, 200_001);
});

test('each line of JSON Lines is a paragraph, and a broken line stays as text with a warning', () => {
  const lines = Array.from({ length: 20 }, (_, at) => JSON.stringify({ at, name: `n${at}` }));
  lines.splice(4, 0, '', '{"cut": "lin');
  const { blocks, warnings } = readJsonLines(Buffer.from(lines.join('\r\n')));
  assert.equal(blocks.length, 21);
  assert.deepEqual([blocks[3]?.text, blocks[4]?.text], ['at: 3\nname: n3', '{"cut": "lin']);
  assert.deepEqual(warnings, ['bad_lines: These lines are no JSON and were kept as text: 6.']);
});

test('a text of which more than a tenth of the lines is no JSON is damaged', () => {
  const { blocks } = readJsonLines(Buffer.from('\ufeff{"a":1}\n{"a":2}'));
  assert.equal(blocks.length, 2);
  for (const text of ['Dear reader,\nthis is a letter.', '{"a":1}\nx\ny', 'no JSON'])
    assert.throws(() => readJsonLines(Buffer.from(text)), { code: 'file_damaged', message: /the first is line/ });
});

test('a long name is cut wherever it is repeated, and a warning counts the cut names', () => {
  const long = 'k'.repeat(1_000_000);
  const kept = `${'k'.repeat(placeLimits.name - 1)}…`;
  const texts = [JSON.stringify({ [long]: { [long]: Array(5).fill(1) } }), `{"a":1}\n{"${long}":{"b":2}}`];
  const documents = [readJson(Buffer.from(texts[0] ?? '')), readJsonLines(Buffer.from(texts[1] ?? ''))];
  assert.deepEqual(
    documents.map(({ blocks }) => blocks.at(-1)?.text),
    [`${kept}.${kept}: 1, 1, 1, 1, 1`, `${kept}.b: 2`],
  );
  for (const [at, count] of [2, 1].entries())
    assert.match(documents[at]?.warnings.join() ?? '', new RegExp(`^names_cut: ${count} names of values`));
});

test('the name of a list is built once for all its simple values, but again after a list in it', () => {
  const labelOf = createLabels(0);
  const name = 'n'.repeat(1_000);
  const items = 2 * (jsonLabelLimits.characters / name.length);
  for (let index = 0; index < items; index += 1) assert.equal(labelOf([name, index], -1), name);
  assert.deepEqual(textsOf('{"a":{"b":[1,[2,3],4,5],"c":[],"d":[6]}}'), [
    'a.b: 1\na.b[2]: 2, 3\na.b: 4, 5\na.c: []\na.d: 6',
  ]);
});

test('the names that a JSON document repeats for its values are accepted up to their bound, and refused above it', () => {
  const { characters, perCharacter } = jsonLabelLimits;
  const length = 1_000;
  const most = characters + perCharacter * length;
  const labelOf = createLabels(length);
  const name = 'n'.repeat(1_024);
  for (let left = most; left > 0; left -= name.length) labelOf([name.slice(0, left)], -1);
  assert.throws(() => labelOf(['n'], -1), {
    code: 'unpacked_limit',
    message: new RegExp(`more than ${most} characters`),
  });
  // Each value is in as many objects with long names as there may be, so the names would take gigabytes.
  const names = Array.from({ length: 400 }, () => `{"${'n'.repeat(placeLimits.name)}":`);
  const values = `{${Array.from({ length: 50_000 }, (_, at) => `"${at}":1`).join()}}`;
  const text = `${names.join('')}${values}${'}'.repeat(names.length)}`;
  assert.throws(() => readJson(Buffer.from(text)), { code: 'unpacked_limit' });
});
