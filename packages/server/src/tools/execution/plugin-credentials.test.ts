import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFolder, load } from '../catalogue/load/testing/bundle-folder.suite.ts';
import { openAvailability } from '../mcp/toolsets/availability.ts';
import { openBench } from './testing/execution.suite.ts';

const bundle = (id: string, required: string) => `id: ${id}
version: 1.0.0
name: Boards
description: Boards.
provider: Example
developer: Quartermaster
hosts: [api.example.com]
credentials_schema:
  type: object${required}
  properties:
    key: {type: string, description: The key., x-secret: true}
    token: {type: string, description: The token., x-secret: true}
`;
const keys = 'inject: [{in: query, name: key, credential: key}, {in: query, name: token, credential: token}]';
const plugin = (id: string, inject: string, more = '') => `id: ${id}
name: ${id}
description: Does ${id}.
effects: read
idempotent: true
input_schema: {type: object, properties: {}}
output_schema: {type: object}
request: {url: 'https://api.example.com/${id}'${inject === '' ? '' : `, ${inject}`}}
${more}`;

const files = {
  'strict/bundle.yaml': bundle('strict', '\n  required: [key, token]'),
  'strict/own.yaml': plugin('own', keys),
  'strict/open.yaml': plugin('open', '', 'credentials: [[]]'),
  'strict/either.yaml': plugin('either', keys, 'credentials: [[key], [token]]'),
  'loose/bundle.yaml': bundle('loose', ''),
  'loose/own.yaml': plugin('own', keys),
  'loose/open.yaml': plugin('open', keys, 'credentials: [[]]'),
  'loose/both.yaml': plugin('both', keys, 'credentials: [[key, token]]'),
};

/** The statuses with no credential, with one, and with both. */
const expected = {
  'strict/own': [422, 422, 200],
  'strict/open': [200, 200, 200],
  'strict/either': [422, 200, 200],
  'loose/own': [422, 200, 200],
  'loose/open': [200, 200, 200],
  'loose/both': [422, 422, 200],
};
const sent = [{}, { key: 'a-key' }, { key: 'a-key', token: 'a-token' }];

test('a plugin is refused before a byte is sent when a credential that it needs is absent, and is then not available', async (t) => {
  const answer = (_request: unknown, response: { writeHead: (...head: unknown[]) => { end(text: string): void } }) =>
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  const { execute, server } = await openBench(t, answer as never, {}, files);
  const catalogue = await load(await createFolder(t, files));
  for (const [name, statuses] of Object.entries(expected)) {
    const [bundle_id = '', plugin_id = ''] = name.split('/');
    const compiled = catalogue.findPlugin(bundle_id, plugin_id);
    assert.ok(compiled);
    for (const [at, credentials] of sent.entries()) {
      const before = server.requests.length;
      const { status, body } = await execute({ bundle_id, plugin_id, credentials });
      assert.equal(status, statuses[at], `${name} with ${Object.keys(credentials)}`);
      assert.equal(server.requests.length - before, status === 200 ? 1 : 0);
      if (status === 422) assert.match(body.error.details[0].path, /credentials/);
      const headerOf = (header: string) => Object(credentials)[header.replace('x-credential-', '')];
      const find = await openAvailability({ headerOf, projectId: null }, async () => new Map());
      assert.equal(find(compiled) === null, status === 200, name);
    }
  }
});

test('a plugin needs only credentials that its bundle declares', async (t) => {
  const wrong = { ...files, 'loose/both.yaml': plugin('both', keys, 'credentials: [[other]]') };
  const { failures } = await load(await createFolder(t, wrong));
  assert.match(failures.map(({ message }) => message).join(), /"other" is not in credentials_schema/);
});
