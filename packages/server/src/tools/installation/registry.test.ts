import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Secret } from '../../platform/secret.ts';
import { startBroker, startServer } from '../egress/testing/broker.suite.ts';
import { integrityOf, pieceLimits, readPiecePackage } from './piece-package.ts';
import { packageLimits, readTarball } from './read-tarball.ts';
import { createRegistry } from './registry.ts';
import { packageOf, type TarEntry, tarball } from './testing/tarball.suite.ts';

const name = '@activepieces/piece-tea';
const archive = packageOf('exports.tea = {};', { license: 'MIT' });
const { signal } = new AbortController();

/** A registry at `/npm` of a loopback address, which the operator has named. */
async function startRegistry(
  t: TestContext,
  change: (dist: Record<string, unknown>, origin: string) => unknown = (dist) => dist,
  overrides: [string, string][] = [],
) {
  const server = await startServer(t, (request, response) => {
    if (request.url === '/npm/tea.tgz') return void response.end(archive);
    if (request.url === '/npm/moved.tgz')
      return void response.writeHead(302, { location: 'http://127.0.0.2:9/x' }).end();
    if (request.url === '/npm/large') return void response.end(Buffer.alloc(9 * 2 ** 20, ' '));
    if (request.url?.toLowerCase() !== '/npm/@activepieces%2fpiece-tea') return void response.writeHead(404).end();
    const dist = change({ tarball: `${server.origin}/npm/tea.tgz`, integrity: integrityOf(archive) }, server.origin);
    response.end(
      JSON.stringify({ 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': { dist }, '0.9.0': { dist } } }),
    );
  });
  const broker = startBroker(t, { overrides: new Map([[server.origin, server.origin], ...overrides]) });
  const url = new URL('/npm/', server.origin);
  url.username = 'token%2F1';
  return { server, registry: createRegistry(broker, new Secret(url.href)) };
}

test('the latest version, or the one that is named, is downloaded with the token of the registry', async (t) => {
  const { server, registry } = await startRegistry(t);
  assert.deepEqual(await registry.download(name, null, signal), archive);
  assert.deepEqual(await registry.download(name, '0.9.0', signal), archive);
  assert.ok(server.requests.every(({ headers }) => headers.authorization === 'Bearer token/1'));
  await assert.rejects(registry.download(name, '2.0.0', signal), {
    code: 'OBJECT_NOT_FOUND',
    message: /latest version is 1\.0\.0/,
  });
  await assert.rejects(registry.download(name, '__proto__', signal), { code: 'OBJECT_NOT_FOUND' });
  await assert.rejects(registry.download('@activepieces/piece-coffee', null, signal), { code: 'OBJECT_NOT_FOUND' });
});

test('the token goes to no other host, and a private host that the operator did not name is not called', async (t) => {
  const other = await startServer(t, (_request, response) => void response.end(archive));
  for (const [host, code] of [
    ['https://files.example', null],
    [other.origin, 'PROVIDER_ERROR'],
  ] as const) {
    const { registry } = await startRegistry(t, (dist) => ({ ...dist, tarball: `${host}/tea.tgz` }), [
      ['https://files.example', other.origin],
    ]);
    const downloaded = registry.download(name, null, signal);
    if (code === null) assert.deepEqual(await downloaded, archive);
    else await assert.rejects(downloaded, { code, message: /not an address of the public/ });
  }
  assert.deepEqual(
    other.requests.map(({ headers }) => headers.authorization),
    [undefined],
  );
});

const hostile: Readonly<
  Record<string, readonly [(dist: Record<string, unknown>, origin: string) => unknown, string, RegExp]>
> = {
  'another integrity': [
    (dist) => ({ ...dist, integrity: integrityOf(Buffer.from('x')) }),
    'REQUEST_VALIDATION_ERROR',
    /integrity .* is wrong/,
  ],
  'no integrity': [({ tarball: url }) => ({ tarball: url, shasum: 'a' }), 'REQUEST_VALIDATION_ERROR', /no sha512/],
  'a weaker integrity': [(dist) => ({ ...dist, integrity: 'sha1-AAAA' }), 'REQUEST_VALIDATION_ERROR', /no sha512/],
  'a redirect to a private address': [
    (dist, origin) => ({ ...dist, tarball: `${origin}/npm/moved.tgz` }),
    'PROVIDER_ERROR',
    /127\.0\.0\.2/,
  ],
  'a file of another scheme': [(dist) => ({ ...dist, tarball: 'file:///etc/passwd' }), 'PROVIDER_ERROR', /no address/],
  'no versions': [() => null, 'REQUEST_VALIDATION_ERROR', /no sha512/],
};
for (const [what, [change, code, message]] of Object.entries(hostile)) {
  test(`a registry that answers with ${what} is refused`, async (t) => {
    const { registry } = await startRegistry(t, change);
    await assert.rejects(registry.download(name, null, signal), { code, message });
  });
}

test('a document of a package that is too large is not read', async (t) => {
  const server = await startServer(t, (_request, response) => void response.end(Buffer.alloc(9 * 2 ** 20, ' ')));
  const broker = startBroker(t, { overrides: new Map([[server.origin, server.origin]]) });
  await assert.rejects(createRegistry(broker, new Secret(server.origin)).download(name, null, signal), {
    code: 'PROVIDER_ERROR',
  });
});

/** The shape of the answer is from https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md#get-v1search. */
const objects = [
  { package: { name: '@activepieces/piece-tea', version: '1.0.0', description: 'Tea\u202e', keywords: [], links: {} } },
  { package: { name: '@acme/piece-teapot', version: '2.1.0', date: '2016-12-30T16:53:16.023Z' }, score: {} },
  { package: { name: 'yargs', version: '6.6.0' } },
  { package: { name: '@acme/piece-tea/../x', version: '1.0.0' } },
  { package: { name: '@acme/piece-cup', version: 'latest' } },
  { package: null },
  null,
];

/** A registry whose search answers with this status and body, and which has one package. */
async function startSearch(t: TestContext, status: number, body: unknown) {
  const server = await startServer(t, (request, response) => {
    if (request.url?.startsWith('/-/v1/search?')) return void response.writeHead(status).end(JSON.stringify(body));
    const isTea = request.url === '/@activepieces%2fpiece-tea';
    const document = { 'dist-tags': { latest: '3.0.0' }, description: 'Exact.' };
    response.writeHead(isTea ? 200 : 404).end(JSON.stringify(document));
  });
  const broker = startBroker(t, { overrides: new Map([[server.origin, server.origin]]) });
  const { search } = createRegistry(broker, new Secret(server.origin.replace('//', '//token@')));
  return { requests: server.requests, search };
}

test('a search returns the packages of pieces that the registry finds, with its token and without hidden characters', async (t) => {
  const { requests, search } = await startSearch(t, 200, { objects, total: 7 });
  const pot = { package: '@acme/piece-teapot', version: '2.1.0', description: '' };
  const found = await search(' Tea ', signal);
  assert.deepEqual(found, [{ package: name, version: '1.0.0', description: 'Tea\ufffd' }, pot]);
  assert.deepEqual(
    requests.map(({ url, headers }) => [url, headers.authorization]),
    [['/-/v1/search?text=%40activepieces%2Fpiece-tea&size=50', 'Bearer token']],
  );
  assert.equal((await search('green tea', signal)).length, 2);
  const exact = { package: name, version: '3.0.0', description: 'Exact.' };
  const others = await startSearch(t, 200, { objects: objects.slice(1) });
  assert.deepEqual(await others.search('tea', signal), [exact, pot]);
});

test('a registry without a search finds a package by its exact name, and otherwise asks for the full name', async (t) => {
  for (const status of [404, 405, 501]) {
    const { search } = await startSearch(t, status, {});
    const exact = { package: name, version: '3.0.0', description: 'Exact.' };
    assert.deepEqual(await search(name, signal), [exact]);
    await assert.rejects(search('coffee', signal), {
      code: 'OBJECT_NOT_FOUND',
      message: /has no search, and no package @activepieces\/piece-coffee\. Type the full name/,
    });
  }
  const broken = await startSearch(t, 500, {});
  await assert.rejects(broken.search('tea', signal), { code: 'PROVIDER_ERROR' });
  const large = await startSearch(t, 200, 'x'.repeat(2 ** 20));
  await assert.rejects(large.search('tea', signal), { code: 'PROVIDER_ERROR' });
  for (const wrong of [null, [], { objects: {} }]) {
    const { search } = await startSearch(t, 200, wrong);
    assert.deepEqual(await search('coffee', signal), []);
  }
});

test('a package is read with its licence, its code and its integrity', async () => {
  const read = await readPiecePackage(archive);
  assert.deepEqual(
    { ...read, file: read.file.toString() },
    {
      name,
      version: '1.0.0',
      integrity: integrityOf(archive),
      licence: 'MIT',
      packedFrom: null,
      file: 'exports.tea = {};',
    },
  );
  const long = `${'d'.repeat(120)}/index.js`;
  const pax = `${String(long.length + 17)} path=package/${long}\n`;
  const entries = [
    {
      name: 'package/package.json',
      content: JSON.stringify({ name, version: '1.0.0', main: long, quartermaster: { integrity: 'sha512-x' } }),
    },
    { name: 'package/PaxHeader', type: 'x', content: pax.replace(/^\d+/, String(Buffer.byteLength(pax))) },
    { name: 'package/short', content: 'long' },
    { name: 'package/LICENSE.md', content: '\n# The licence\u202e of tea\nmore' },
  ];
  const packed = await readPiecePackage(tarball(entries));
  assert.deepEqual(
    [packed.file.toString(), packed.licence, packed.packedFrom],
    ['long', '# The licence\ufffd of tea', 'sha512-x'],
  );
});

const unfit: Readonly<Record<string, readonly [Buffer, RegExp]>> = {
  'that needs other packages': [
    packageOf('', { dependencies: { axios: '1.2.4' } }),
    /needs 1 other packages, such as "axios".*bundle pack @activepieces\/piece-tea@1\.0\.0/,
  ],
  'of modules': [packageOf('', { type: 'module' }), /CommonJS/],
  'without its main file': [packageOf('', { main: 'none' }), /CommonJS/],
  'without a scope': [packageOf('', { name: 'tea' }), /scope/],
  'with a version that is a range': [packageOf('', { version: '^1.0.0' }), /no version/],
  'whose code is too large': [packageOf(' '.repeat(pieceLimits.bytes + 1)), /at most 8388608/],
  'without package.json': [tarball([{ name: 'package/a', content: '' }]), /package\.json is missing/],
};
for (const [what, [bytes, message]] of Object.entries(unfit)) {
  test(`a package ${what} is refused`, () =>
    assert.rejects(readPiecePackage(bytes), { code: 'REQUEST_VALIDATION_ERROR', message }));
}

const unsafe: Readonly<Record<string, readonly TarEntry[]>> = {
  'a symbolic link': [{ name: 'package/a', type: '2' }],
  'a hard link': [{ name: 'package/a', type: '1' }],
  'a device': [{ name: 'package/a', type: '3' }],
  'an absolute path': [{ name: '/package/a' }],
  'a path that leaves the folder': [{ name: 'package/../../a' }],
  'a top folder that leaves the folder': [{ name: '../a' }],
  'a backslash': [{ name: 'package/..\\a' }],
  'a file without a folder': [{ name: 'a' }],
  'a file twice': [{ name: 'package/a' }, { name: 'other/a' }],
  'a pax path that leaves the folder': [
    { name: 'p', type: 'x', content: '20 path=package/../a\n' },
    { name: 'package/a' },
  ],
  'a pax size': [{ name: 'p', type: 'x', content: '10 size=9\n' }, { name: 'package/a' }],
  'a pax line without an end': [{ name: 'p', type: 'x', content: '1 path=a\n' }, { name: 'package/a' }],
  'too many files': Array.from({ length: packageLimits.files + 1 }, (_, index) => ({ name: `package/${index}` })),
};
for (const [what, entries] of Object.entries(unsafe)) {
  test(`an archive with ${what} is refused`, () =>
    assert.rejects(readTarball(tarball(entries)), { code: 'REQUEST_VALIDATION_ERROR' }));
}

test('a damaged archive is refused, and one that unpacks to too much is not unpacked', async () => {
  const unpacked = Buffer.alloc(packageLimits.unpackedBytes + 1);
  for (const bytes of [
    archive.subarray(0, -20),
    Buffer.from('x'),
    gzipSync(Buffer.alloc(600, 'x')),
    gzipSync(unpacked),
  ])
    await assert.rejects(readTarball(bytes), { code: 'REQUEST_VALIDATION_ERROR' });
});
