import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkBundle } from '@quartermaster/server/authoring';
import { writeBundle } from '../../../cli/src/bundles/write-bundle.ts';
import { importOpenApi } from '../testing/import-openapi.suite.ts';

const content = (schema: object) => ({ 'application/json': { schema } });
const done = { 200: { description: 'Done.', content: content({ type: 'object' }) } };
type Operations = Readonly<Record<string, object>>;

/** Operations by method and path: `GET /things`. */
function documentOf(operations: Operations, root: object = {}): string {
  const paths: Record<string, Record<string, object>> = {};
  for (const [name, operation] of Object.entries(operations)) {
    const [method = '', path = ''] = name.split(' ');
    paths[path] = { ...paths[path], [method.toLowerCase()]: { responses: done, ...operation } };
  }
  const servers = [{ url: 'https://api.things.dev' }];
  return JSON.stringify({ openapi: '3.0.3', info: { title: 'Things', version: '1' }, servers, paths, ...root });
}

const idsOf = (operations: Operations, options: Parameters<typeof importOpenApi>[1] = {}) => [
  ...importOpenApi(documentOf(operations), options).plugins.keys(),
];

test('operations are chosen by tag, by path with everything below it, and by name, and one of them is enough', () => {
  const operations = {
    'GET /files': { operationId: 'files', tags: ['Files'] },
    'GET /files/{id}': { operationId: 'file' },
    'GET /files2': { operationId: 'other' },
    'GET /about': { operationId: 'about', tags: ['About', 'Me'] },
  };
  assert.deepEqual(idsOf(operations, { tags: ['Me'] }), ['about']);
  assert.deepEqual(idsOf(operations, { paths: ['/files'] }), ['files', 'file']);
  assert.deepEqual(idsOf(operations, { paths: ['/files/'], operations: ['other'], tags: ['Files'] }), [
    'files',
    'file',
    'other',
  ]);
  for (const [kind, names] of Object.entries({
    tags: ['Me', 'me'],
    operations: ['file', 'me'],
    paths: ['/about', '/me'],
  }))
    assert.throws(
      () => idsOf(operations, { [kind]: names }),
      new RegExp(`None of the 4 operations has these ${kind}: "/?me"`),
    );
});

test('operations with the same name get their tag or their path, and the selection changes no id', () => {
  const operations = {
    'GET /keys': { operationId: 'list', tags: ['Keys'] },
    'GET /models': { operationId: 'list', tags: ['Models'] },
    'GET /teams': { operationId: 'list' },
    'GET /users': { operationId: 'list' },
  };
  assert.deepEqual(idsOf(operations), ['keys_list', 'models_list', 'get_teams', 'get_users']);
  assert.deepEqual(idsOf(operations, { tags: ['Models'] }), ['models_list']);
});

test('a long name loses the words that most operations have', () => {
  const common = 'customer_relations_objects_version_2026_03_contacts_and_companies';
  const ids = idsOf({
    'GET /a': { operationId: `get_${common}_associations_archive` },
    'GET /b': { operationId: `get_${common}_associations_create` },
    'GET /c': { operationId: `get_${common}_memberships_of_a_list` },
  });
  for (const id of ids) assert.ok(id.length <= 64 && id.startsWith('get_'), id);
  assert.deepEqual(
    ids.map((id) => id.replace(/^.*(archive|create|memberships_of_a_list)$/, '$1')),
    ['archive', 'create', 'memberships_of_a_list'],
  );
});

test('names that are equal once they are short keep what tells them apart, and names of other scripts become paths', () => {
  const long = 'teams_id_members_id_projects_id_environments_id_settings_id_rules_blocked_key';
  const operations = Object.fromEntries(
    ['teams', 'rules', 'members'].map((word, at) => [
      `GET /k${at}`,
      { operationId: `get_${word}_of_${long.replace(word, 'x')}` },
    ]),
  );
  const ids = idsOf({ ...operations, 'GET /teams': { operationId: '获取1' }, 'GET /about': { operationId: 'über' } });
  assert.deepEqual(
    ids.filter((id) => /_\d$/.test(id)),
    [],
  );
  assert.deepEqual(ids.slice(3), ['get_teams', 'uber']);
  const alike = ['user', 'group'].map((word, at) => [
    `GET /b${at}`,
    { operationId: `list_${word}_${'list_'.repeat(2)}${'permission_setting_'.repeat(3)}${word}` },
  ]);
  assert.equal(new Set(idsOf(Object.fromEntries(alike)).map((id) => id.slice(0, 9))).size, 2);
});

test('the account and the paging that a document shows are proposed, and the report names them', async (t) => {
  const answer = { type: 'object', properties: { items: { type: 'array' }, next_cursor: { type: 'string' } } };
  const key = { type: 'apiKey', in: 'header', name: 'X-Key' };
  const text = documentOf(
    {
      'GET /things': {
        operationId: 'things',
        parameters: [{ in: 'query', name: 'cursor', schema: { type: 'string' } }],
        responses: { 200: { description: 'Things.', content: content(answer) } },
      },
      'GET /users/me': { operationId: 'me', parameters: [{ in: 'query', name: 'full', schema: { type: 'boolean' } }] },
    },
    { security: [{ key: [] }], components: { securitySchemes: { key } } },
  );
  const imported = importOpenApi(text);
  assert.deepEqual(imported.bundle.verify, { request: { method: 'GET', url: 'https://api.things.dev/users/me' } });
  assert.match(String(imported.plugins.get('things')?.description), /send "next_cursor" of the answer as "cursor"/);
  const { notes, imported: list } = imported.report;
  assert.match([...notes, ...list.flatMap((one) => one.notes)].join(), /checked by GET .*Proposed in the description/);
  const out = await mkdtemp(join(tmpdir(), 'quartermaster-selection-'));
  t.after(() => rm(out, { recursive: true, force: true }));
  assert.deepEqual((await checkBundle(await writeBundle(out, imported))).failures, []);
});

test('a later import keeps edits, removals and own files, and tells what changes', async (t) => {
  const out = await mkdtemp(join(tmpdir(), 'quartermaster-edits-'));
  t.after(() => rm(out, { recursive: true, force: true }));
  const first = { 'GET /a': { operationId: 'a' }, 'GET /b': { operationId: 'b' }, 'GET /c': { operationId: 'c' } };
  const folder = await writeBundle(out, importOpenApi(documentOf(first)));
  const path = (name: string) => join(folder, name);
  const text = await readFile(path('a.yaml'), 'utf8');
  await writeFile(path('a.yaml'), text.replace('name: A', 'name: My own name'));
  await rm(path('b.yaml'));
  await writeFile(path('mine.yaml'), text.replace('id: a', 'id: mine'));
  const changes: string[] = [];
  const second = {
    'GET /a': { operationId: 'a', summary: 'Other', description: 'New.' },
    'GET /b': { operationId: 'b' },
    'GET /d': { operationId: 'd' },
  };
  await writeBundle(out, importOpenApi(documentOf(second)), {}, (change) => changes.push(change));
  assert.deepEqual(changes, [
    '  a.yaml: your edit of "name" is kept, which the document changes too',
    '~ a.yaml: "description" changes',
    '  b.yaml: stays removed',
    '+ d.yaml',
    '- c.yaml',
  ]);
  const { bundle, failures } = await checkBundle(folder);
  assert.deepEqual([failures, [...(bundle?.plugins.keys() ?? [])].sort()], [[], ['a', 'd', 'mine']]);
  const { name, description } = Object(bundle?.plugins.get('a')?.manifest);
  assert.deepEqual([name, description], ['My own name', 'Other\n\nNew.']);
});
