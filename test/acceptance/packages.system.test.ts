import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { chmod, chown, copyFile, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { settledRecord } from '../support/client.ts';
import { buildArchives, installInto, provideArchives } from '../support/packed-archives.ts';
import { handbook } from '../support/sample-handbook.ts';
import { type StartedService, share, startService, temporaryFolder } from '../support/service.ts';

const run = promisify(execFile);
const oldNode = '20.20.2';
/** The service does not list retired bundles. */
const numBundles = globSync('bundles/*/bundle.yaml').filter(
  (file) => !/^retired:/m.test(readFileSync(file, 'utf8')),
).length;
const platform = `${process.platform}-${process.arch}`;

let folder = '';
let installed = '';
let archives: ReadonlyMap<string, string>;
const launcher = () => join(installed, 'node_modules/quartermaster/bin/quartermaster.cjs');

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quartermaster-packages-'));
  await chmod(folder, 0o755); // a reader of documents has a user of its own
  archives = await provideArchives(join(folder, 'archives'));
  installed = join(folder, 'a folder');
  await installInto(installed, [archives.get('quartermaster') ?? assert.fail('no archive')]);
});
after(() => rm(folder, { recursive: true, force: true }));

/** A program that uses the libraries, beside an old Node.js. */
const program = share(async () => {
  const cwd = join(folder, 'program');
  const libraries = ['quartermaster-client', 'quartermaster-plugin-kit'].map((name) => archives.get(name) ?? '');
  await installInto(cwd, [...libraries, `node-${platform}@${oldNode}`]);
  return { cwd, node: join(cwd, `node_modules/node-${platform}/bin/node`) };
});

async function command(...args: string[]) {
  return await run(process.execPath, [launcher(), ...args], { cwd: folder });
}

function startInstalled(t: TestContext, settings: Readonly<Record<string, string>> = {}): Promise<StartedService> {
  return startService(t, { program: [launcher(), 'start'], settings });
}

test('[package] installed from its archive, the service finds a passage of a PDF, runs a plugin, shows the console and starts again with its compile cache', async (t) => {
  const service = await startInstalled(t);
  const { client } = service;
  const content = new Blob([new Uint8Array(handbook[0]?.bytes ?? [])]);
  const file = await client.files.upload(content, { purpose: 'record_file', name: 'guide.pdf' });
  const { collection_id } = await client.collections.create({ name: 'guides' });
  const { record_id } = await client.records.create(collection_id, { type: 'file', file_id: file.file_id });
  const record = await settledRecord(client, collection_id, record_id);
  assert.equal(record.status, 'ready', JSON.stringify(record.error));
  const [hit] = await client.search(collection_id, { query_text: 'handbook', top_k: 1 });
  assert.equal(hit?.record_id, record_id);
  // The build removed the types of this handler, which runs in a process of its own.
  const sum = await client.plugins.run('arithmetic/add', { number_1: 2, number_2: 3 });
  assert.deepEqual(sum.data, { result: 5 });
  const bundles = await client.bundles.list();
  assert.equal(bundles.length, numBundles);
  const page = await fetch(`${service.filesUrl}/`);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /<title>Quartermaster/);
  assert.equal(await service.stop(), 0);
  assert.doesNotMatch(service.log(), /Warning|node_modules\/\.cache|bundle_failed/);

  assert.ok((await readdir(join(service.folder, 'cache/compiled'))).length > 0);
  const again = await startService(t, { program: [launcher(), 'start'], folder: service.folder });
  assert.equal(await again.stop(), 0);
});

test('[package] an ordinary user runs an installation that only root may write', async (t) => {
  if (process.getuid?.() !== 0) t.diagnostic('started as an ordinary user already');
  const data = await temporaryFolder(t);
  const asUser = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
  if (process.getuid?.() === 0) await chown(data, 65534, 65534);
  const service = await startService(t, { program: [launcher(), 'start'], folder: data, launcher: asUser });
  assert.equal((await service.client.bundles.list()).length, numBundles);
  assert.equal(await service.stop(), 0);
});

test('[package] verify compares an installed package with the hashes of its release', async (t) => {
  const { stderr } = await command('verify');
  assert.match(stderr, /Compared \d{4} files with hashes\.json/);
  const file = join(installed, 'node_modules/quartermaster/bundles/arithmetic/add.mjs');
  const before = await readFile(file);
  t.after(() => writeFile(file, before));
  await writeFile(file, `${before} `);
  await assert.rejects(command('verify'), ({ stdout }: { stdout: string }) => {
    assert.equal(stdout, 'changed bundles/arithmetic/add.mjs\n');
    return true;
  });
});

test('[package] without the files of the console the API serves, and the page says what to do', async (t) => {
  const dist = join(installed, 'node_modules/quartermaster/packages/console/dist');
  await rename(dist, `${dist}-away`);
  t.after(() => rename(`${dist}-away`, dist));
  const service = await startInstalled(t);
  const page = await fetch(`${service.filesUrl}/`);
  assert.equal(page.status, 503);
  assert.match(await page.text(), /console/i);
  assert.equal((await fetch(`${service.filesUrl}/v1/ready`)).status, 200);
});

test('[package] the installed command imports an OpenAPI document of version 2.0', async () => {
  const document = join(folder, 'pets.json');
  const operation = { operationId: 'listPets', summary: 'Lists pets', responses: { 200: { description: 'Pets' } } };
  const info = { title: 'Pets', version: '1' };
  const content = {
    swagger: '2.0',
    info,
    host: 'api.pets.dev',
    schemes: ['https'],
    paths: { '/pets': { get: operation } },
  };
  await writeFile(document, JSON.stringify(content));
  await command('bundle', 'import', 'openapi', document, '--out', join(folder, 'bundles'));
  assert.match(
    await readFile(join(folder, 'bundles/pets/list_pets.yaml'), 'utf8'),
    /url: https:\/\/api\.pets\.dev\/pets/,
  );
});

test('[package] messages name commands in the form of an installed package', async () => {
  await assert.rejects(command('fils'), ({ stderr }: { stderr: string }) => {
    assert.match(stderr, /Run "quartermaster --help" to see the commands\.\n$/);
    return true;
  });
});

test('[package] an old Node.js gets one sentence that names the remedy, and exit code 69', async () => {
  const { node } = await program();
  await assert.rejects(
    run(node, [launcher(), 'start']),
    (error: { code?: number; stderr?: string; stdout?: string }) => {
      assert.equal(error.code, 69);
      assert.equal(error.stdout, '');
      assert.equal(
        error.stderr,
        `quartermaster: Node.js 24 or later is required; this is ${oldNode}. Install a newer Node.js (https://nodejs.org), then run the same command again.\n`,
      );
      return true;
    },
  );
});

test('[package] the archive holds compiled code, licences and a list of components; the installation has at most 135 MiB', async () => {
  const own = join(installed, 'node_modules/quartermaster');
  const files = await readdir(own, { recursive: true });
  assert.deepEqual(
    files.filter((path) => /(?<!\.d)\.ts$|\.test\.|\.suite\.|\.map$/.test(path)),
    [],
  );
  assert.ok(files.includes('npm-shrinkwrap.json'), 'the tree of packages that was tested');
  const { components } = JSON.parse(await readFile(join(own, 'sbom.cdx.json'), 'utf8')) as {
    components: { name: string }[];
  };
  const notices = await readFile(join(own, 'THIRD_PARTY_LICENSES'), 'utf8');
  const names = new Set(components.map(({ name }) => name));
  const shrinkwrap = await readPackages(join(own, 'npm-shrinkwrap.json'));
  assert.ok(shrinkwrap.length > 100, `${shrinkwrap.length} packages`);
  for (const { name, version } of shrinkwrap) {
    assert.ok(names.has(name), `${name} is not in the list of components`);
    assert.ok(notices.includes(`${name} ${version} (`), `${name} ${version} has no notice`);
  }
  // npm follows the shrinkwrap of a package from a registry only. From an archive it takes the newest versions in range.
  for (const { name } of await readPackages(join(installed, 'package-lock.json'))) {
    assert.ok(names.has(name) || name === 'quartermaster', `${name} is not in the list of components`);
  }
  assert.ok(names.has('react'), 'the libraries in the built console');
  const { stdout } = await run('du', ['-sm', installed]);
  const size = Number.parseInt(stdout, 10);
  assert.ok(size <= 135, `${size} MiB`);
  const archive = await stat(archives.get('quartermaster') ?? '');
  assert.ok(archive.size <= 2.5 * 2 ** 20, `${archive.size} bytes`);
});

/** Lists the packages of others in a lockfile. */
async function readPackages(lockfile: string): Promise<{ name: string; version: string }[]> {
  const { packages } = JSON.parse(await readFile(lockfile, 'utf8')) as {
    packages: Record<string, { version: string }>;
  };
  return Object.entries(packages).flatMap(([path, { version }]) =>
    path === '' ? [] : [{ name: path.split('node_modules/').at(-1) ?? '', version }],
  );
}

test('[package] programs use the libraries in Node.js 20 and check their types with both kinds of module resolution', async (t) => {
  const { cwd, node } = await program();
  const source = `
    import { Quartermaster } from '@quartermaster/client';
    import { BundleManifest, type Handler } from '@quartermaster/plugin-kit';
    const run: Handler<{ readonly a: number }, number> = ({ a }) => a;
    // @ts-expect-error: a collection has no such member
    type Wrong = Awaited<ReturnType<Quartermaster['collections']['get']>>['no_member'];
    console.log(typeof Quartermaster, typeof BundleManifest, typeof run);
  `;
  await writeFile(join(cwd, 'main.mts'), source);
  for (const [module, resolution] of [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ] as const) {
    const options = ['--strict', '--target', 'es2022', '--lib', 'es2022,dom', '--types', '', '--outDir', 'out'];
    const kind = ['--module', module, '--moduleResolution', resolution];
    await run('tsc', [...options, ...kind, 'main.mts'], { cwd });
  }
  assert.equal((await run(node, ['out/main.mjs'], { cwd })).stdout, 'function object function\n');

  await copyFile('scripts/packages/story.mjs', join(cwd, 'story.mjs'));
  const service = await startInstalled(t);
  const env = { PATH: process.env.PATH, QM_URL: service.filesUrl, QM_API_KEY: service.key };
  for (const each of [node, process.execPath]) await run(each, ['story.mjs'], { cwd, env });
  assert.equal((await service.client.files.list()).data.length, 2);
});

test('[package] the same sources give the same bytes', async () => {
  const again = await buildArchives(join(folder, 'again'));
  assert.deepEqual([...again.keys()], [...archives.keys()]);
  const digest = async (path: string) =>
    createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
  for (const [name, path] of archives) assert.equal(await digest(again.get(name) ?? ''), await digest(path), name);
});
