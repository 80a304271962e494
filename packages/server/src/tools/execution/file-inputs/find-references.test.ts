import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFileReference, withFileReferences } from '../../catalogue/file-references.ts';
import { compileLinearRegExp } from '../../catalogue/schema/linear-regexp.ts';
import { findOtherType } from './file-inputs.ts';
import { findReferences } from './find-references.ts';

const id = 'file0mwq7qe92rz5d1vkc40m';
const content = { type: 'string', contentEncoding: 'base64' };
const pathsIn = (schema: object, input: Record<string, unknown>) =>
  findReferences(() => ({ ...schema }), input).map(({ path }) => path);

test('references are recognised only where the schema describes file content', () => {
  const schema = {
    properties: {
      file: { $ref: '#/$defs/file' },
      'a/b': { anyOf: [{ type: 'null' }, content] },
      list: { items: { properties: { inner: content } } },
      pair: { prefixItems: [{ type: 'string' }, content] },
      text: { type: 'string' },
    },
    additionalProperties: { oneOf: [{ type: 'integer' }, { $ref: '#/$defs/file' }] },
    $defs: { file: content },
  };
  const value = `file:${id}`;
  const input = {
    ...{ file: value, 'a/b': `artifact:${id}`, list: [{ inner: value, other: value }, value], pair: [value, value] },
    ...{ text: value, more: value, plain: 'aGVsbG8=' },
  };
  assert.deepEqual(pathsIn(schema, input), ['/file', '/a~1b', '/list/0/inner', '/pair/1', '/more']);
  assert.deepEqual(pathsIn({ properties: {} }, JSON.parse(`{"__proto__": "${value}", "toString": "${value}"}`)), []);
});

test('a schema that refers to itself, or branches without end, ends the search', () => {
  const branches = Array.from({ length: 4 }, () => ({ $ref: '#' }));
  const found = findReferences(() => ({ anyOf: branches, properties: { a: content } }), { a: `file:${id}` });
  assert.ok(found.length <= 1);
  let deep: Record<string, unknown> = { a: `file:${id}` };
  for (let level = 0; level < 5000; level++) deep = { deep };
  assert.deepEqual(pathsIn({ additionalProperties: content }, deep), []);
});

test('a listed schema accepts references and base64, but no other texts', () => {
  const file = { ...content, pattern: '^[A-Za-z0-9+/]+={0,2}$', minLength: 100, maxLength: 20, description: 'A file.' };
  const { properties } = withFileReferences({ type: 'object', properties: { file, text: { type: 'string' } } });
  const { pattern, minLength, maxLength, description } = properties.file;
  const matches = (text: string) => compileLinearRegExp(pattern).test(text);
  assert.deepEqual([`file:${id}`, `artifact:${id}`, 'aGVsbG8='].map(matches), [true, true, true]);
  assert.deepEqual(['file:', `file:${id}x`, `x file:${id}`, 'a b', `url:${id}`].map(matches), [
    false,
    false,
    false,
    false,
    false,
  ]);
  assert.ok(minLength <= `file:${id}`.length && maxLength >= `artifact:${id}`.length);
  assert.match(description, /^A file\. Or `file:`/);
  assert.equal(file.minLength, 100, 'the schema of the manifest stays');
  assert.deepEqual(properties.text, { type: 'string' });
  assert.deepEqual(readFileReference(`artifact:${id}`), { kind: 'artifact', id });
  assert.equal(readFileReference('https://example.com/'), undefined);
});

test('bytes are compared with the media type of the field where a signature is known', () => {
  const [png, zip, text] = [Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from('PK\x03\x04'), Buffer.from('a,b')];
  const cases = [
    ['image/png', png, undefined],
    ['IMAGE/PNG; q=1', png, undefined],
    ['image/*', png, undefined],
    ['application/octet-stream', png, undefined],
    ['image/jpeg', png, 'image/png'],
    ['audio/*', png, 'image/png'],
    ['image/png', text, 'bytes of another type'],
    ['text/csv', text, undefined],
    ['text/csv', png, 'image/png'],
    ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', zip, undefined],
    ['image/png', zip, 'application/zip'],
  ] as const;
  for (const [wanted, bytes, found] of cases) assert.equal(findOtherType(wanted, bytes), found, wanted);
});

test('a reference is read from the placeholder of a data URL, with spaces and in capital letters', () => {
  const artifact = { kind: 'artifact', id };
  for (const text of [
    `data:image/png;base64,artifact:${id}`,
    `DATA:image/svg+xml;charset=utf-8;base64, artifact:${id}`,
    ` artifact:${id}\n`,
    `ARTIFACT:${id}`,
    `Artifact: ${id}`,
  ]) {
    assert.deepEqual(readFileReference(text), artifact, text);
  }
  const texts = [
    'data:image/png;base64,iVBORw0KGgo=',
    `data:text/plain,artifact:${id}`,
    'data:',
    ' ',
    '',
    'aGVsbG8=',
    id,
  ];
  for (const text of [...texts, `data:${'a'.repeat(300)};base64,artifact:${id}`]) {
    assert.equal(readFileReference(text), undefined, text);
  }
});
