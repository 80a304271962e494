import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Quartermaster } from './client.ts';

type Client = Quartermaster;

/** One call of each method, and the operation that it must request. `plugins:` marks the plugins address. */
const calls: Readonly<Record<string, readonly [method: string, call: (client: Client) => unknown]>> = {
  uploadFile: ['files.upload', ({ files }) => files.upload(new Blob(['a']), { name: 'a.txt' })],
  listFiles: ['files.list', ({ files }) => files.list()],
  getFile: ['files.get', ({ files }) => files.get('f')],
  getFileContent: ['files.content', ({ files }) => files.content('f')],
  deleteFile: ['files.delete', ({ files }) => files.delete('f')],
  getLimits: ['files.limits', ({ files }) => files.limits()],
  createCollection: ['collections.create', ({ collections }) => collections.create({})],
  listCollections: ['collections.list', ({ collections }) => collections.list()],
  getCollection: ['collections.get', ({ collections }) => collections.get('c')],
  updateCollection: ['collections.update', ({ collections }) => collections.update('c', {})],
  deleteCollection: ['collections.delete', ({ collections }) => collections.delete('c')],
  reembedCollection: ['collections.reembed', ({ collections }) => collections.reembed('c')],
  listEmbeddingFailures: ['collections.embeddingFailures', ({ collections }) => collections.embeddingFailures('c')],
  retryEmbeddingFailures: [
    'collections.retryEmbeddingFailures',
    ({ collections }) => collections.retryEmbeddingFailures('c'),
  ],
  createRecord: ['records.create', ({ records }) => records.create('c', { content: 'a' })],
  listRecords: ['records.list', ({ records }) => records.list('c')],
  getRecord: ['records.get', ({ records }) => records.get('c', 'r')],
  updateRecord: ['records.update', ({ records }) => records.update('c', 'r', {})],
  deleteRecord: ['records.delete', ({ records }) => records.delete('c', 'r')],
  retryRecord: ['records.retry', ({ records }) => records.retry('c', 'r')],
  cancelRecord: ['records.cancel', ({ records }) => records.cancel('c', 'r')],
  restoreRecord: ['records.restore', ({ records }) => records.restore('c', 'r')],
  getRecordText: ['records.text', ({ records }) => records.text('c', 'r')],
  getPagePicture: ['records.pagePicture', ({ records }) => records.pagePicture('c', 'r', 1)],
  listRecordRows: ['records.rows', ({ records }) => records.rows('c', 'r')],
  listChunksOfRecord: ['records.chunks', ({ records }) => records.chunks('c', 'r')],
  followRecord: ['records.wait', ({ records }) => records.wait('c', 'r', { timeout: 300 })],
  listChunks: ['chunks.list', ({ chunks }) => chunks.list('c')],
  createChunk: ['chunks.create', ({ chunks }) => chunks.create('c', { content: 'a' })],
  getChunk: ['chunks.get', ({ chunks }) => chunks.get('c', 'k')],
  getChunkBoxes: ['chunks.boxes', ({ chunks }) => chunks.boxes('c', 'k')],
  updateChunk: ['chunks.update', ({ chunks }) => chunks.update('c', 'k', {})],
  deleteChunk: ['chunks.delete', ({ chunks }) => chunks.delete('c', 'k')],
  evaluateCollection: ['collections.evaluate', ({ collections }) => collections.evaluate('c', { file_id: 'f' })],
  listEvaluations: ['collections.lastEvaluation', ({ collections }) => collections.lastEvaluation('c')],
  queryChunks: ['search', ({ search }) => search('c', { query_text: 'a' })],
  queryCollections: ['search', ({ search }) => search(['c'], { query_text: 'a' })],
  listProjects: ['projects.list', ({ projects }) => projects.list()],
  getOwnKey: ['keys.own', ({ keys }) => keys.own()],
  listKeys: ['keys.list', ({ keys }) => keys.list('p')],
  createKey: ['keys.create', ({ keys }) => keys.create('p', { name: 'a' })],
  rotateKey: ['keys.rotate', ({ keys }) => keys.rotate('p', 'k')],
  revokeKey: ['keys.revoke', ({ keys }) => keys.revoke('p', 'k')],
  getHealth: ['service.health', ({ service }) => service.health()],
  getReadiness: ['service.readiness', ({ service }) => service.readiness()],
  getVersion: ['service.version', ({ service }) => service.version()],
  getMetrics: ['service.metrics', ({ service }) => service.metrics()],
  getOpenApi: ['service.openApi', ({ service }) => service.openApi()],
  'plugins:getHealth': ['plugins.service.health', ({ plugins }) => plugins.service.health()],
  'plugins:getReadiness': ['plugins.service.readiness', ({ plugins }) => plugins.service.readiness()],
  'plugins:getVersion': ['plugins.service.version', ({ plugins }) => plugins.service.version()],
  'plugins:getMetrics': ['plugins.service.metrics', ({ plugins }) => plugins.service.metrics()],
  'plugins:getOpenApi': ['plugins.service.openApi', ({ plugins }) => plugins.service.openApi()],
  'plugins:listBundles': ['bundles.list', ({ bundles }) => bundles.list()],
  'plugins:getBundle': ['bundles.get', ({ bundles }) => bundles.get('b')],
  'plugins:getBundleOpenApi': ['bundles.openApi', ({ bundles }) => bundles.openApi('b')],
  'plugins:getBundleIcon': ['bundles.icon', ({ bundles }) => bundles.icon('b')],
  'plugins:listPlugins': ['plugins.list', ({ plugins }) => plugins.list()],
  'plugins:getPlugin': ['plugins.get', ({ plugins }) => plugins.get('b/p')],
  'plugins:execute': ['plugins.run', ({ plugins }) => plugins.run('b/p', {})],
  'plugins:executeDirectly': ['plugins.output', ({ plugins }) => plugins.output('b/p', {})],
  'plugins:listOptions': ['plugins.listOptions', ({ plugins }) => plugins.listOptions('b/p', 'q')],
  'plugins:verifyCredentials': ['plugins.verifyCredentials', ({ plugins }) => plugins.verifyCredentials('b', {})],
  'plugins:listRuns': ['runs.list', ({ runs }) => runs.list()],
  'plugins:getRun': ['runs.get', ({ runs }) => runs.get('r')],
  'plugins:cancelRun': ['runs.cancel', ({ runs }) => runs.cancel('r')],
  'plugins:followRun': ['runs.wait', ({ runs }) => runs.wait('r', { timeout: 300 })],
  'plugins:getArtifact': ['artifacts.get', ({ artifacts }) => artifacts.get('a')],
  'plugins:deleteArtifact': ['artifacts.delete', ({ artifacts }) => artifacts.delete('a')],
  'plugins:createConnection': [
    'connections.create',
    ({ connections }) => connections.create({ bundle_id: 'b', end_user: 'u' }),
  ],
  'plugins:listConnections': ['connections.list', ({ connections }) => connections.list()],
  'plugins:getConnection': ['connections.get', ({ connections }) => connections.get('c')],
  'plugins:createConnectionLink': ['connections.link', ({ connections }) => connections.link('c')],
  'plugins:confirmConnection': [
    'connections.confirm',
    ({ connections }) => connections.confirm('c', { confirmation: 'x', end_user: 'u' }),
  ],
  'plugins:deleteConnection': ['connections.delete', ({ connections }) => connections.delete('c')],
  'plugins:deleteEndUser': ['connections.deleteEndUser', ({ connections }) => connections.deleteEndUser('u')],
  'plugins:listCredentialProfiles': ['credentialProfiles.list', ({ credentialProfiles }) => credentialProfiles.list()],
  'plugins:createCredentialProfile': [
    'credentialProfiles.create',
    ({ credentialProfiles }) => credentialProfiles.create({ name: 'n', bundle_id: 'b', credentials: {} }),
  ],
  'plugins:getCredentialProfile': ['credentialProfiles.get', ({ credentialProfiles }) => credentialProfiles.get('n')],
  'plugins:updateCredentialProfile': [
    'credentialProfiles.update',
    ({ credentialProfiles }) => credentialProfiles.update('n', { credentials: {} }),
  ],
  'plugins:deleteCredentialProfile': [
    'credentialProfiles.delete',
    ({ credentialProfiles }) => credentialProfiles.delete('n'),
  ],
};

/** Methods that request an operation of another method in another way. */
const variants: Readonly<Record<string, string>> = {
  'records.preview': 'createRecord with dry_run=true',
  'records.rowSheet': 'listRecordRows with format=csv',
  'plugins.definitions': 'listPlugins with a format',
  'plugins.pages': 'listPlugins in pages',
  'bundles.pages': 'listBundles in pages',
  'artifacts.download': 'getArtifactContent with the signature of getArtifact',
  'plugins.start': 'execute with Prefer: respond-async',
};

/** Operations without a method, and the reason. */
const internal: Readonly<Record<string, string>> = {
  readPluginsAddress: 'the default of `pluginsUrl`',
  callPluginsAddress: 'the default of `pluginsUrl`',
  deleteAtPluginsAddress: 'the default of `pluginsUrl`',
  retrieveForDify: 'Dify calls it',
  loadForOpenWebUi: 'Open WebUI calls it',
  listAuditEvents: 'the page of the audit log in the console calls it',
  exportAuditEvents: 'the page of the audit log in the console calls it',
  listApplications: 'the page of applications in the console calls it',
  revokeApplication: 'the page of applications in the console calls it',
  listRateLimits: 'the project settings of the console call it',
  createRateLimit: 'the project settings of the console call it',
  deleteRateLimit: 'the project settings of the console call it',
  'plugins:getArtifactContent': 'artifacts.download reads the signature of the artifact first',
};

interface Operation {
  readonly operationId: string;
  readonly security?: ReadonlyArray<Record<string, unknown>>;
}

interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: object };
}

const addresses = ['files', 'plugins'] as const;
const documents = addresses.map(
  (address) => JSON.parse(readFileSync(`docs/reference/openapi-${address}.json`, 'utf8')) as Document,
);

/** The operations of both documents: their ids, and `METHOD /path` as a pattern. */
const operations = documents.flatMap(({ paths }, nth) => {
  const address = addresses[nth];
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, security }]) => ({
      id: address === 'files' ? operationId : `plugins:${operationId}`,
      endpoint: `http://${address}.test ${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '')}`,
      // The console signs in; the set-up precedes the first session.
      isForSessions: /^\/v1\/(?:session|sessions|setup)\b/.test(path) || isForSessions(security),
    })),
  );
});

function isForSessions(security: Operation['security'] = []): boolean {
  return security.length > 0 && security.every((one) => 'session' in one);
}

test('every operation of both OpenAPI documents that a key can use has a method, and the others a reason', () => {
  const expected = operations.filter(({ id, isForSessions: isHidden }) => !isHidden && internal[id] === undefined);
  assert.ok(expected.length > 55);
  assert.deepEqual(Object.keys(calls).sort(), expected.map(({ id }) => id).sort());
  const ids = new Set(operations.map(({ id }) => id));
  assert.deepEqual(
    Object.keys(internal).filter((id) => !ids.has(id)),
    [],
  );
});

test('every method of the client requests an operation of the documents', () => {
  const client = new Quartermaster({ baseUrl: 'http://files.test' });
  const methods = listMethods(client);
  const covered = [...new Set(Object.values(calls).map(([method]) => method)), ...Object.keys(variants)];
  assert.deepEqual(methods.sort(), covered.sort());
});

for (const [id, [method, call]] of Object.entries(calls)) {
  test(`${method} requests ${id}`, async () => {
    const requested: string[] = [];
    const answer: typeof fetch = async (url, { method: verb = '' } = {}) => {
      const { origin, pathname } = new URL(String(url));
      // Ids have one letter here, and pages one digit.
      requested.push(`${origin} ${verb} ${pathname.replace(/(?<=\/)[a-z1](?=\/|$)/g, '')}`);
      return Response.json({ status: 'success', data: { status: 'creating' }, has_more: false });
    };
    const client = new Quartermaster({
      baseUrl: 'http://files.test',
      pluginsUrl: 'http://plugins.test',
      fetch: answer,
    });
    await Promise.allSettled([call(client)]);
    const { endpoint } = operations.find((operation) => operation.id === id) ?? {};
    assert.ok(requested.includes(endpoint ?? ''), `${requested} instead of ${endpoint}`);
  });
}

test('every named schema of both documents is a type of the package', () => {
  const listed = new Set(readFileSync(new URL('types.ts', import.meta.url), 'utf8').match(/\w+/g));
  const [ofFiles, ofPlugins] = documents.map(({ components }) => Object.keys(components.schemas));
  assert.ok((ofPlugins ?? []).length > 15);
  assert.deepEqual(
    ofPlugins?.filter((name) => !ofFiles?.includes(name) && !listed.has(name)),
    [],
  );
});

/** Lists the functions of an object and of the objects in it, as paths. */
function listMethods(value: object, prefix = ''): string[] {
  return Object.entries(value).flatMap(([name, member]) => {
    if (typeof member === 'function') return [prefix + name];
    return typeof member === 'object' && member !== null ? listMethods(member, `${prefix}${name}.`) : [];
  });
}
