import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importOpenApi } from '../testing/import-openapi.suite.ts';

const info = { title: 'Things', version: '1' };
const servers = [{ url: 'https://api.things.dev' }];
const documentOf = (members: object) => JSON.stringify({ openapi: '3.1.0', info, servers, ...members });
const many = (count: number, of: (index: number) => unknown, prefix = 'm') =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, of(index)]));
const toSchema = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const answering = (schema: object) => ({
  responses: { 200: { description: 'x', content: { 'text/json': { schema } } } },
});

test('schemas that each operation refers to are bounded for all operations together', () => {
  const schemas = { all: { anyOf: Array.from({ length: 2_000 }, (_, index) => toSchema(`m${index}`)) } };
  const each = many(2_000, () => true);
  const text = documentOf({
    paths: many(1_000, () => ({ get: answering(toSchema('all')) }), '/p'),
    components: { schemas: { ...schemas, ...each } },
  });
  assert.throws(() => importOpenApi(text), /more than 2500000 steps. Choose fewer operations/);
});

test('a schema whose parts all refer to all parts is cut, not multiplied', () => {
  const schemas = many(150, () => ({ type: 'object', properties: many(150, (index) => toSchema(`m${index}`)) }));
  const { report } = importOpenApi(
    documentOf({ paths: { '/a': { get: answering(toSchema('m0')) } }, components: { schemas } }),
  );
  assert.match(report.imported[0]?.notes.join() ?? '', /Described only to level|Not described/);
});

test('too many operations, parameters, fields and credentials are refused with the limit', () => {
  const operations = many(1_999, () => ({ get: { operationId: 'same', responses: {} } }), '/p');
  assert.throws(
    () => importOpenApi(documentOf({ paths: operations })),
    /1999 operations; a bundle holds at most 1998\. Choose .*--operations, --tag, --path/,
  );
  const one = (operation: object) => () =>
    importOpenApi(documentOf({ paths: { '/a': { post: { responses: {}, ...operation } } } }));
  const parameters = Array.from({ length: 1_001 }, (_, index) => ({ in: 'query', name: `a${index}`, schema: {} }));
  assert.throws(one({ parameters }), /more than 1000 parameters/);
  const schema = { type: 'object', properties: many(1_001, () => ({})) };
  assert.throws(one({ requestBody: { content: { 'application/json': { schema } } } }), /more than 1000 fields/);
  assert.throws(one({ security: [many(51, () => [])] }), /more than 50 credentials/);
});

test('a long chain of references leads nowhere, and deep nesting is refused', () => {
  const schemas = many(20_000, (index) => toSchema(`m${index + 1}`));
  const { report } = importOpenApi(
    documentOf({ paths: { '/a': { get: answering(toSchema('m0')) } }, components: { schemas } }),
  );
  assert.match(report.imported[0]?.notes.join() ?? '', /refers only to itself or to other references/);
  const deep = `${'{"properties":{"a":'.repeat(20_000)}1${'}}'.repeat(20_000)}`;
  const text = documentOf({ paths: { '/a': { get: answering({ deep: 1 }) } } }).replace('{"deep":1}', deep);
  assert.throws(() => importOpenApi(text), /nested too deeply/);
});
