import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { readBundle } from '../catalogue/manifest/read-bundle.ts';
import type { PieceAction, PieceAuth, PieceDescription, PieceProperty } from '../execution/pieces/child/piece-task.ts';
import { credentialsOf, inputSchemaOf, outputSchemaOf } from '../execution/pieces/piece-schema.ts';
import { pieceBundle } from './piece-bundle.ts';

const root = await mkdtemp(join(tmpdir(), 'quartermaster-piece-bundle-'));
after(() => rm(root, { recursive: true }));

const property = (name: string, type: string, more: Partial<PieceProperty> = {}): PieceProperty => ({
  name,
  type,
  displayName: name,
  description: '',
  required: false,
  ...more,
});
const action = (name: string, props: readonly PieceProperty[], more: Partial<PieceAction> = {}): PieceAction => ({
  name,
  displayName: name,
  description: `Does ${name}`,
  requireAuth: true,
  classification: '',
  idempotent: false,
  props,
  output: [],
  ...more,
});
const auth = (kind: PieceAuth['kind'], props: readonly PieceProperty[] = []): PieceAuth => ({
  kind,
  displayName: 'Account',
  description: '',
  props,
  authUrl: '',
  tokenUrl: '',
  scope: [],
  pkce: false,
  prompt: '',
  authorizationMethod: '',
});

/** Properties of every type, with the schema of each. */
const open = { type: ['string', 'number', 'boolean', 'object'] };
const known =
  'The third party knows the choices: use an id that another tool returned, not a name, or ask the user. POST /v1/plugins/…/options lists them.';
const options = [
  { label: 'First', value: 1 },
  { label: 'Second', value: 2 },
];
const types: Readonly<Record<string, readonly [Partial<PieceProperty>, unknown]>> = {
  SHORT_TEXT: [
    { defaultValue: 'x', description: 'Text', displayName: 'A label' },
    { type: 'string', default: 'x', title: 'A label', description: 'Text' },
  ],
  LONG_TEXT: [{ defaultValue: 5 }, { type: 'string', description: 'LONG_TEXT' }],
  COLOR: [{}, { type: 'string', description: 'COLOR' }],
  NUMBER: [{ defaultValue: 0 }, { type: 'number', default: 0, description: 'NUMBER' }],
  CHECKBOX: [{ defaultValue: false }, { type: 'boolean', default: false, description: 'CHECKBOX' }],
  DATE_TIME: [{ defaultValue: 'now' }, { type: 'string', format: 'date-time', description: 'DATE_TIME' }],
  FILE: [{}, { type: 'string', contentEncoding: 'base64', description: 'FILE' }],
  OBJECT: [{}, { type: 'object', description: 'OBJECT' }],
  JSON: [{ defaultValue: [1] }, { type: ['object', 'array'], items: open, default: [1], description: 'JSON' }],
  CUSTOM: [{}, { ...open, description: 'CUSTOM' }],
  ARRAY: [
    { properties: [property('id', 'NUMBER', { required: true }), property('note', 'MARKDOWN')] },
    {
      type: 'array',
      items: {
        type: 'object',
        properties: { id: { type: 'number', description: 'id' } },
        required: ['id'],
        additionalProperties: false,
      },
      description: 'ARRAY',
    },
  ],
  STATIC_DROPDOWN: [
    { options, defaultValue: 3 },
    { type: 'number', enum: [1, 2], description: 'STATIC_DROPDOWN. Choices: 1 (First), 2 (Second).' },
  ],
  STATIC_MULTI_SELECT_DROPDOWN: [
    {
      options: [
        { label: 'a', value: 'a' },
        { label: 'B', value: { b: 1 } },
      ],
    },
    {
      type: 'array',
      items: { enum: ['a', { b: 1 }] },
      description: 'STATIC_MULTI_SELECT_DROPDOWN. Choices: {"b":1} (B).',
    },
  ],
  DROPDOWN: [{ refreshers: ['auth', 'NUMBER'] }, { ...open, description: `DROPDOWN. ${known} They depend on NUMBER.` }],
  MULTI_SELECT_DROPDOWN: [{}, { type: 'array', items: open, description: `MULTI_SELECT_DROPDOWN. ${known}` }],
  DYNAMIC: [{}, { type: 'object', description: `DYNAMIC. ${known.replace('choices', 'members')}` }],
};
const everyType = action('every', [
  property('MARKDOWN', 'MARKDOWN'),
  ...Object.entries(types).map(([type, [more]]) => property(type, type, more)),
  property('The name', 'SHORT_TEXT', { required: true }),
  property('preset', 'NUMBER', { required: true, defaultValue: 1 }),
]);

test('every type of property has its schema', () => {
  const { properties, required } = inputSchemaOf(everyType);
  const { FILE_filename: fileName, The_name: renamed, preset, ...others } = properties as Record<string, unknown>;
  assert.deepEqual(others, Object.fromEntries(Object.entries(types).map(([type, [, schema]]) => [type, schema])));
  assert.deepEqual(fileName, { type: 'string', description: 'The name of the file in FILE, with its extension.' });
  assert.deepEqual([renamed !== undefined, preset !== undefined, required], [true, true, ['The_name']]);
  const rows = inputSchemaOf(action('insert', [property('rows', 'ARRAY', { defaultValue: [{ id: 1 }] })]));
  assert.deepEqual(Object(rows.properties).rows.items, open);
  const people = inputSchemaOf(action('sort', [property('people', 'ARRAY', { required: true, defaultValue: [] })]));
  assert.deepEqual(people.required, ['people']);
  assert.throws(() => inputSchemaOf(action('send', [property('map', 'MAP')])), {
    message: /the action send has the property map of the unknown type MAP\./,
  });
});

test('credentials have the members that each kind needs, and secrets are marked', () => {
  const secret = (description: string) => ({ type: 'string', description, 'x-secret': true });
  const fields = [
    property('note', 'MARKDOWN'),
    property('domain', 'SHORT_TEXT', { required: true }),
    property('apiKey', 'SHORT_TEXT', { required: true }),
    property('limit', 'NUMBER'),
  ];
  const found = credentialsOf([auth('CUSTOM_AUTH', fields), auth('BASIC_AUTH')]);
  assert.deepEqual(found?.schema, {
    type: 'object',
    properties: {
      domain: { type: 'string', description: 'domain' },
      apiKey: secret('apiKey'),
      limit: { type: 'string', description: 'limit' },
      username: secret('username'),
      password: secret('password'),
    },
    anyOf: [{ required: ['domain', 'apiKey'] }, { required: ['username', 'password'] }],
    additionalProperties: false,
  });
  assert.deepEqual(found?.forms[0]?.fields, { domain: 'text', apiKey: 'text', limit: 'number' });
  assert.deepEqual(credentialsOf([auth('SECRET_TEXT')])?.schema.required, ['token']);
  const twice = credentialsOf([auth('SECRET_TEXT'), auth('CUSTOM_AUTH', [property('token', 'LONG_TEXT')])]);
  assert.equal(Object(twice?.schema.properties).token['x-secret'], true, 'a secret in one alternative is one in all');
  assert.equal(credentialsOf([]), undefined);
});

test('the files of a piece are a valid bundle, with the effects that the piece declares', async () => {
  const field = { description: '', format: '', isMap: false, children: [], items: null };
  const output = [{ ...field, key: 'list', items: [{ ...field, key: 'id' }] }];
  const description: PieceDescription = {
    displayName: 'Tea',
    description: '',
    logoUrl: '',
    categories: ['SALES', 'UNIVERSAL_AI', 'COMMUNICATION'],
    auth: [auth('OAUTH2', [property('region', 'STATIC_DROPDOWN', { required: true })])],
    actions: [
      everyType,
      action('getTea', [], { classification: 'READ', output }),
      action('get-tea', [], { classification: 'SEARCH' }),
      action('9 bundle', [], { classification: 'DESTRUCTIVE', idempotent: true }),
    ],
  };
  const files = pieceBundle({
    description,
    id: 'piece_tea',
    package: '@activepieces/piece-tea',
    version: '1.2.3-beta.1',
    integrity: 'sha512-abc',
    hosts: ['{region}.example.com'],
    credentialPlaces: { hosts: ['{region}.example.com'], places: [{ in: 'header', name: 'authorization' }] },
    repeatable: ['getTea', '9 bundle', 'every'],
    file: Buffer.alloc(8 * 2 ** 20, 'x'),
  });
  const folder = join(root, 'piece_tea');
  await mkdir(folder);
  for (const [name, content] of files) await writeFile(join(folder, name), content);
  const { bundle, failures } = await readBundle(folder);
  assert.deepEqual(failures, []);
  assert.deepEqual(
    bundle?.plugins.map(({ manifest: { id, effects, idempotent, piece } }) => [id, effects, idempotent, piece?.action]),
    [
      ['bundle_2', 'destructive', true, '9 bundle'],
      ['every', 'write', false, 'every'],
      ['get_tea', 'read', true, 'getTea'],
      ['get_tea_2', 'read', false, 'get-tea'],
    ],
  );
  assert.deepEqual(bundle?.manifest.categories, ['artificial_intelligence', 'communication']);
  const every = bundle?.plugins[1]?.manifest.piece;
  assert.deepEqual(every?.names, { The_name: 'The name' });
  assert.deepEqual(every?.choices.DROPDOWN, { kind: 'one', depends_on: ['auth', 'NUMBER'] });
  assert.deepEqual(outputSchemaOf(action('get', [], { output })), {
    type: 'object',
    properties: { list: { description: 'list', items: { properties: { id: { description: 'id' } } } } },
  });
  await writeFile(join(folder, 'piece.cjs'), Buffer.alloc(8 * 2 ** 20 + 1));
  assert.match((await readBundle(folder)).failures[0]?.message ?? '', /larger than 8192 KiB/);
});

test('a piece that declares OAuth lets end users connect, if its URLs are fixed and an access token is enough', async () => {
  const urls = {
    authUrl: 'https://tea.example/authorize',
    tokenUrl: 'https://login.tea.example/token',
    scope: ['send'],
  };
  const oauthIn = (one: PieceAuth) => {
    const description = { displayName: 'Tea', description: '', logoUrl: '', categories: [], auth: [one], actions: [] };
    const files = pieceBundle({
      ...{
        description,
        id: 'piece_tea',
        package: '@activepieces/piece-tea',
        version: '1.2.3',
        integrity: 'sha512-abc',
      },
      ...{ hosts: ['api.tea.example'], file: Buffer.from('x'), logo: null, repeatable: [] },
      credentialPlaces: { hosts: ['api.tea.example'], places: [{ in: 'header', name: 'authorization' }] },
    });
    return parse(String(files.get('bundle.yaml'))).oauth;
  };
  assert.deepEqual(oauthIn({ ...auth('OAUTH2'), ...urls, pkce: true, authorizationMethod: 'HEADER' }), {
    authorization_url: 'https://tea.example/authorize',
    token_url: 'https://login.tea.example/token',
    client_authentication: 'basic',
    pkce: true,
    authorization_parameters: { access_type: 'offline', prompt: 'consent' },
    scopes: ['send'],
    credential: 'access_token',
  });
  const omits = oauthIn({ ...auth('OAUTH2'), ...urls, prompt: 'omit' });
  assert.deepEqual([omits.client_authentication, omits.authorization_parameters], ['body', { access_type: 'offline' }]);
  const without: PieceAuth[] = [
    { ...auth('SECRET_TEXT'), ...urls },
    { ...auth('OAUTH2'), ...urls, authUrl: 'https://{region}.tea.example/authorize' },
    { ...auth('OAUTH2'), ...urls, tokenUrl: 'http://tea.example/token' },
    { ...auth('OAUTH2', [property('region', 'STATIC_DROPDOWN', { required: true })]), ...urls },
  ];
  for (const one of without) assert.equal(oauthIn(one), undefined);
});
