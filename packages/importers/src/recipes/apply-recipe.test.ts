import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schemaChecks } from '@quartermaster/server/authoring';
import { stringify } from 'yaml';
import { applyRecipe } from './apply-recipe.ts';
import { listRecipes, readRecipe } from './own-recipes.ts';
import { parseRecipe, type Recipe } from './recipe.ts';

const ticket = {
  type: 'object',
  properties: {
    id: { type: 'integer', description: 'Id.' },
    subject: { type: 'string', enum: ['a', 'b'] },
    owner: { $ref: '#/components/schemas/Person' },
    tags: { type: 'array', items: { type: 'string' } },
  },
};
const page = {
  type: 'object',
  properties: {
    tickets: { type: 'array', items: { $ref: '#/components/schemas/Ticket' } },
    next: { type: 'string' },
    more: { type: 'boolean' },
  },
};
const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const answer = (schema: object) => ({ 200: { description: 'Done.', ...json(schema) } });
const query = (name: string, schema: object, required = false) => ({ in: 'query', name, schema, required });
const newTicket = {
  type: 'object',
  required: ['subject'],
  properties: { subject: { type: 'string', maxLength: 80 }, notes: { type: 'string' } },
};
/** In the shape of vendors: references, a wrapped body, pages by a token, and a server that serves tests only. */
const vendor = {
  openapi: '3.0.3',
  info: { title: 'Tickets API', version: '7', license: { name: 'MIT' } },
  servers: [{ url: 'https://sandbox.tickets.example/v7' }],
  security: [{ key: [] }],
  paths: {
    '/{kind}/list': {
      get: {
        operationId: 'listThings',
        parameters: [
          { in: 'path', name: 'kind', required: true, schema: { oneOf: [{ type: 'string' }, { type: 'integer' }] } },
          query('size', { type: 'integer' }),
          query('token', { type: 'string' }),
          query('trace', { type: 'string' }),
        ],
        responses: answer(page),
      },
    },
    '/tickets': {
      post: {
        operationId: 'createTicket',
        requestBody: {
          required: true,
          ...json({ type: 'object', required: ['ticket'], properties: { ticket: newTicket } }),
        },
        responses: answer({ $ref: '#/components/schemas/Ticket' }),
      },
    },
  },
  components: {
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
    schemas: {
      Ticket: ticket,
      Person: {
        type: 'object',
        properties: { name: { type: 'string' }, boss: { $ref: '#/components/schemas/Person' } },
      },
    },
  },
};

const list = {
  id: 'list_tickets',
  operation: 'GET /{kind}/list',
  name: 'List tickets',
  description: 'Lists tickets.',
  effects: 'read',
  inputs: { size: { maximum: 50, default: 10 } },
  set: { kind: 'tickets' },
  paging: { input: 'token', next: 'next', while: 'more' },
  output: {
    tickets: { list: 'tickets', fields: { id: 'id', subject: 'subject', owner_name: 'owner.name', tags: 'tags' } },
  },
};
const create = {
  id: 'create_ticket',
  operation: 'createTicket',
  name: 'Create a ticket',
  description: 'Creates a ticket.',
  effects: 'write',
  inputs: { title: {}, notes: {} },
  required: ['title'],
  set: { ticket: { subject: 'Web: {title}', notes: '{notes}' } },
  output: { id: 'id', owner: { path: 'owner', fields: ['name'] } },
  response: { failed_when: 'body.error' },
  example: { title: 'Broken lamp' },
};
const recipe = {
  document: { title: 'Tickets API', url: 'https://tickets.example/openapi.json', version: '7' },
  server: 'https://api.tickets.example/v7',
  bundle: {
    id: 'tickets',
    version: '1.0.0',
    name: 'Tickets',
    description: 'Tickets.',
    provider: 'Tickets',
    credentials_schema: {
      type: 'object',
      properties: { KEY: { type: 'string', description: 'Key.', 'x-secret': true } },
    },
    inject: [{ in: 'header', name: 'X-Key', credential: 'KEY' }],
    verify: { request: { url: '{server}/me' } },
  },
  plugins: [list, create],
};

const apply = (change: object = {}, document: object = vendor, options = {}) =>
  applyRecipe(JSON.stringify(document), parseRecipe(stringify({ ...recipe, ...change })), schemaChecks, options);

test('a recipe chooses operations, hosts, inputs and outputs of the document', () => {
  const { bundle, plugins, report, host } = apply();
  assert.deepEqual(bundle.hosts, ['api.tickets.example']);
  assert.equal(host, 'api.tickets.example');
  assert.deepEqual(bundle.verify, { request: { url: 'https://api.tickets.example/v7/me' } });
  assert.deepEqual([report.operations, report.imported.length, report.skipped], [2, 2, []]);
  assert.deepEqual(report.notes, []);
  const { input_schema, request, response, ...rest } = Object(plugins.get('list_tickets'));
  assert.deepEqual([rest.effects, rest.idempotent], ['read', true]);
  assert.deepEqual(Object.keys(input_schema.properties), ['size', 'token']);
  assert.deepEqual([input_schema.required, input_schema.properties.size.maximum], [undefined, 50]);
  assert.deepEqual(request, {
    method: 'GET',
    url: 'https://api.tickets.example/v7/tickets/list',
    query: { size: '{size}', token: '{token}' },
  });
  assert.equal(
    response.output,
    '{tickets: (body.tickets || `[]`)[*].{id: id, subject: subject, owner_name: owner.name, tags: tags || `[]`}, next_page: body.more && body.next || `null`}',
  );
  const { properties } = rest.output_schema.properties.tickets.items;
  assert.deepEqual([properties.subject.type, properties.subject.enum], [['string', 'null'], undefined]);
  assert.deepEqual([properties.tags.type, rest.output_schema.$defs], ['array', undefined]);
});

test('a set value has inputs of its own, with the schemas of their places', () => {
  const { input_schema, request, response, examples, output_schema } = Object(apply().plugins.get('create_ticket'));
  assert.deepEqual(request.body, { ticket: { subject: 'Web: {title}', notes: '{notes}' } });
  assert.deepEqual([Object.keys(input_schema.properties), input_schema.required], [['title', 'notes'], ['title']]);
  assert.equal(input_schema.properties.notes.type, 'string');
  assert.deepEqual(response, {
    output: '{id: body.id, owner: body.owner && body.owner.{name: name}}',
    failed_when: 'body.error',
  });
  assert.deepEqual(examples, [{ input: { title: 'Broken lamp' } }]);
  assert.deepEqual(output_schema.properties.owner.type, ['object', 'null']);
});

test('another version of the document gives a note, and one that others wrote too', () => {
  const { notes } = apply({ document: { ...recipe.document, version: '6', written_by: 'Somebody' } }).report;
  assert.match(notes[0] ?? '', /compared with version 6 of the document; this one is 7\.$/);
  assert.match(notes[1] ?? '', /written by Somebody, not by the vendor/);
});

/** What a changed document or a wrong recipe lacks, with the error. */
const drifts: Readonly<Record<string, readonly [change: object, message: RegExp]>> = {
  'the title of the recipe': [
    { document: { ...recipe.document, title: 'Other' } },
    /for the document "Other"; this one is "Tickets API"/,
  ],
  'an operation': [
    { plugins: [{ ...list, operation: 'GET /gone' }] },
    /list_tickets: the document has no operation GET \/gone/,
  ],
  'an input': [
    { plugins: [{ ...list, inputs: { sise: {} } }] },
    /inputs\/sise: the operation has no such input. It has: kind, size/,
  ],
  'an input that is set': [{ plugins: [{ ...list, set: { kin: 'x' } }] }, /set\/kin: the operation has no such input/],
  'a member of a set value': [
    { plugins: [{ ...create, set: { ticket: { subject: '{title}', note: '{notes}' } } }] },
    /set\/ticket\/note: the document has no such member/,
  ],
  'an input for a placeholder': [{ plugins: [{ ...create, inputs: { title: {} } }] }, /inputs does not list \{notes\}/],
  'a required input': [{ plugins: [{ ...list, set: {} }] }, /inputs\/kind: the document requires it/],
  'an input that the recipe requires': [{ plugins: [{ ...list, required: ['x'] }] }, /required: there is no input x/],
  'a member of the answer': [
    { plugins: [{ ...list, output: { x: 'ticket' } }] },
    /output\/x: the answer has no ticket/,
  ],
  'a member of the items': [
    { plugins: [{ ...list, output: { t: { list: 'tickets', fields: ['titel'] } } }] },
    /output\/t\/titel: the answer has no titel/,
  ],
  'a list': [{ plugins: [{ ...list, output: { t: { list: 'next', fields: ['id'] } } }] }, /output\/t: next is no list/],
  'the input of a page': [
    { plugins: [{ ...list, paging: { input: 'page', next: 'next' } }] },
    /paging\/input: the operation has no input page/,
  ],
  'the next page': [
    { plugins: [{ ...list, paging: { input: 'token', next: 'nxt' } }] },
    /paging\/next: the answer has no nxt/,
  ],
  'the end of pages': [
    { plugins: [{ ...list, paging: { input: 'token', next: 'next', while: 'has_more' } }] },
    /paging\/while: the answer has no has_more/,
  ],
};
for (const [what, [change, message]] of Object.entries(drifts)) {
  test(`a document without ${what} is refused, and the error names it`, () =>
    assert.throws(() => apply(change), message));
}

test('every difference is named at once', () => {
  const paths = { '/{kind}/list': vendor.paths['/{kind}/list'] };
  const plugins = [{ ...list, inputs: { sise: {} } }, create];
  assert.throws(
    () => apply({ plugins }, { ...vendor, paths }),
    /inputs\/sise[\s\S]*\n- create_ticket: the document has no operation/,
  );
});

test('only the part of a host that the recipe leaves open can be chosen', () => {
  const open = { server: 'https://{site}.tickets.example/v7' };
  const { bundle, plugins } = apply(open, vendor, { server: 'https://acme.tickets.example/other' });
  assert.deepEqual(bundle.hosts, ['acme.tickets.example']);
  assert.match(
    String(Object(plugins.get('create_ticket')).request.url),
    /^https:\/\/acme\.tickets\.example\/v7\/tickets$/,
  );
  for (const server of [
    'https://acme.other.example',
    'https://a.b.tickets.example',
    'http://acme.tickets.example',
    'acme',
  ])
    assert.throws(() => apply(open, vendor, { server }), /must be an address such as https:\/\/site\.tickets\.example/);
  assert.throws(() => apply(open), /Add the address of your account/);
  assert.throws(
    () => apply({}, vendor, { server: 'https://evil.example' }),
    /calls https:\/\/api\.tickets\.example\/v7 only/,
  );
});

test('some plugins of a recipe can be chosen, under another id of the bundle', () => {
  const { bundle, plugins } = apply({}, vendor, { id: 'mine', operations: ['create_ticket'] });
  assert.deepEqual([bundle.id, [...plugins.keys()]], ['mine', ['create_ticket']]);
  assert.throws(() => apply({}, vendor, { operations: ['x'] }), /x: the recipe has no such plugin/);
});

test('a wrong member of a recipe is named', () => {
  const wrong = (change: object) => () => parseRecipe(stringify({ ...recipe, ...change }));
  assert.throws(wrong({ hosts: [] }), /Unknown member "\/hosts"/);
  assert.throws(wrong({ plugins: [{ ...list, outputs: {} }] }), /Unknown member "plugins\/0\/outputs"/);
  assert.throws(wrong({ document: { title: 'x', url: 'y' } }), /no document\/version/);
  assert.throws(
    () => readRecipe('../secret'),
    /There is no recipe "\.\.\/secret"\. Use one of these, or none: .*stripe/,
  );
});

test('every recipe that ships has the form of a recipe', () => {
  const names: string[] = listRecipes();
  const recipes: Recipe[] = names.map(readRecipe);
  assert.ok(names.length >= 2);
  for (const { plugins } of recipes) assert.ok(plugins.length >= 4 && plugins.length <= 12);
});
