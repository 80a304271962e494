import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMedia } from './detect-media.ts';
import { findMedia, replaceAt } from './find-parts.ts';
import { outputPartLimits } from './output-part.ts';
import { joinOutput, splitOutput } from './split-output.ts';

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(300, 7)]);
const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(300, 32)]);
const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8">${'<g/>'.repeat(20)}</svg>`;

test('a file keeps the name that its data URL tells, as one segment of a path', () => {
  const nameIn = (name: string) =>
    readMedia(`data:application/pdf;name=${name};base64,${pdf.toString('base64')}`)?.name;
  assert.deepEqual(['tea.pdf', 'my%20%E8%8C%B6.pdf', '..%2F%0A%E2%80%AEx.pdf', '%E8%8C'].map(nameIn), [
    'tea.pdf',
    'my 茶.pdf',
    '.._x.pdf',
    undefined,
  ]);
});

test('media is recognised by its bytes, in base64, in data URLs and as SVG text', () => {
  const cases: ReadonlyArray<readonly [text: string, mediaType: string | undefined]> = [
    [png.toString('base64'), 'image/png'],
    [`data:image/png;base64,${png.toString('base64')}`, 'image/png'],
    // The content decides, not the name.
    [`data:image/png;base64,${pdf.toString('base64')}`, 'application/pdf'],
    [
      `data:image/png;base64,${Buffer.from('<script>alert(1)</script>').toString('base64')}`,
      'application/octet-stream',
    ],
    [
      `data:text/html;base64,${Buffer.from('<script>alert(1)</script>').toString('base64')}`,
      'application/octet-stream',
    ],
    [`data:image/svg+xml;charset=utf-8;base64,${Buffer.from(svg).toString('base64')}`, 'image/svg+xml'],
    [pdf.toString('base64'), 'application/pdf'],
    [svg, 'image/svg+xml'],
    [`<?xml version="1.0"?>\n${svg}`, 'image/svg+xml'],
    ['<svg>', undefined],
    [png.toString('hex'), undefined],
    [png.toString('base64').slice(1), undefined],
    [`${png.toString('base64')} `, undefined],
    [`${'iVBORw0KGgo'}${' a text that begins like a picture'.repeat(4)}`, undefined],
    [`data:,${'x'.repeat(100)}`, undefined],
    ['data:image/png;base64,', undefined],
  ];
  for (const [text, mediaType] of cases) assert.equal(readMedia(text)?.mediaType, mediaType, text.slice(0, 60));
});

test('parts are found and replaced at their JSON Pointers, also below names with slashes, tildes and __proto__', () => {
  const image = png.toString('base64');
  const output = JSON.parse(`{"a/b": [1, {"~": "${image}"}], "__proto__": {"x": "${image}"}, "n": 1}`);
  const paths = findMedia(output).map(({ path }) => path);
  assert.deepEqual(paths, ['/a~1b/1/~0', '/__proto__/x']);
  const replaced = replaceAt(output, new Map(paths.map((path) => [path, 'here'])));
  assert.equal(JSON.stringify(replaced), '{"a/b":[1,{"~":"here"}],"__proto__":{"x":"here"},"n":1}');
  assert.ok(JSON.stringify(output).includes(image), 'the original stays');
  assert.equal(Reflect.get({}, 'x'), undefined);
});

test('an output has at most as many parts as the limit artifacts_of_run', () => {
  const output = Array.from({ length: outputPartLimits.parts + 1 }, () => png.toString('base64'));
  assert.equal(findMedia(output).length, outputPartLimits.parts);
});

test('a large output loses its media first, then its long texts, and joins to what it was', () => {
  const large = Buffer.concat([png, Buffer.alloc(2 ** 20)]).toString('base64');
  const text = 'line\n'.repeat(20_000);
  const withPicture = { picture: `data:image/png;base64,${large}`, text };
  const one = splitOutput(withPicture);
  assert.deepEqual([one.parts.map(({ path }) => path), one.output], [['/picture'], { picture: null, text }]);
  assert.deepEqual(joinOutput(one), withPicture);
  const texts = { picture: large, list: [text.repeat(12), 'short'] };
  const two = splitOutput(texts);
  assert.deepEqual(
    two.parts.map(({ path, mediaType }) => [path, mediaType]),
    [
      ['/picture', 'image/png'],
      ['/list/0', 'text/plain'],
    ],
  );
  assert.deepEqual(two.output, { picture: null, list: [null, 'short'] });
  assert.deepEqual(joinOutput(two), texts);
});

test('an output of many small values, or of deep ones, is one part of JSON', () => {
  const many = Array.from({ length: 60_000 }, (_, index) => index);
  let deep: unknown = 1;
  for (let level = 0; level < 100; level += 1) deep = [deep];
  for (const output of [many, deep]) {
    const { output: left, parts } = splitOutput(output);
    assert.deepEqual([left, parts.map(({ path, mediaType }) => [path, mediaType])], [null, [['', 'application/json']]]);
    assert.deepEqual(joinOutput({ output: left, parts }), output);
  }
});
