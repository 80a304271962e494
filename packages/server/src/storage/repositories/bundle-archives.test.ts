import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createAdmission } from '../../platform/admission/admission.ts';
import { commandSource } from '../../platform/audit/audit.ts';
import { createNewId } from '../../platform/identifier.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { createMetrics } from '../../platform/metrics.ts';
import { temporaryFolder } from '../../platform/testing/temporary-folder.ts';
import { createArchiveStore } from '../../tools/installation/archive-store.ts';
import type { Logo } from '../../tools/installation/fetch-logo.ts';
import { createInstallation } from '../../tools/installation/installation.ts';
import { loadBundle } from '../../tools/installation/load-bundle.ts';
import type { Registry } from '../../tools/installation/registry.ts';
import type { Tea } from '../../tools/installation/testing/read-tea.suite.ts';
import { readTea } from '../../tools/installation/testing/read-tea.suite.ts';
import { packageOf } from '../../tools/installation/testing/tarball.suite.ts';
import { openArchive, writeArchive } from '../../tools/packaging/archive.ts';
import { listFile, writeContents } from '../../tools/packaging/contents.ts';
import { createInstalledBundles } from '../../tools/packaging/installed-bundles.ts';
import { newKeyPair, readPrivateKey, sign } from '../../tools/packaging/signatures.ts';
import { adoptPublishers } from '../../tools/packaging/trusted-publishers.ts';
import { temporaryDatabases } from '../database/testing/temporary-databases.ts';
import { openDiskBlobStore } from '../disk/disk-blob-store.ts';
import { createArchiveRepository, createPublisherRepository } from './archive-repository.ts';
import { createFileRepository } from './file-repository.ts';

const by = commandSource();
const { signal } = new AbortController();
const tea = (version: string, about: Tea = {}) => packageOf(`//${JSON.stringify(about)}`, { version });
const request = (archive: Buffer) => ({ source: { kind: 'piece_file' as const, content: archive.toString('base64') } });
const noRegistry: Registry = { download: () => assert.fail('no file is downloaded'), search: async () => [] };

async function openStore(t: TestContext, openEmpty = temporaryDatabases.SQLite) {
  const { database, close } = await openEmpty();
  t.after(close);
  const folder = await temporaryFolder(t);
  const disk = await openDiskBlobStore(folder);
  t.after(() => disk.close());
  let now = 1_800_000_000_000;
  const clock = { now: () => now };
  const newId = createNewId(clock);
  const installedFolder = join(folder, 'bundles');
  const actions: string[] = [];

  /** @param left the changes of the store until the process ends: later ones have no effect and do not return */
  function start(left = Number.POSITIVE_INFINITY, logo: Logo | null = null) {
    return open({ left, logo });
  }

  /** A further process, with a data folder of its own. */
  function node() {
    const own = join(folder, 'node', 'bundles');
    const seen: unknown[] = [];
    const served = () => versionIn(own);
    const onChange = async () => void seen.push(await served());
    return { ...open({ own, onChange }), served, steps: () => seen };
  }

  function open({
    left = Number.POSITIVE_INFINITY,
    logo = null,
    own = installedFolder,
    onChange = async () => {},
  }: {
    left?: number;
    logo?: Logo | null;
    own?: string;
    onChange?: () => Promise<void>;
  }) {
    let steps = 0;
    const ended = new Error('the process has ended');
    const counted =
      <Given extends readonly unknown[], T>(change: (...given: Given) => Promise<T>) =>
      async (...given: Given): Promise<T> => {
        if (steps >= left) throw ended;
        const result = await change(...given);
        steps += 1;
        if (steps >= left) throw ended;
        return result;
      };
    const rows = createFileRepository(database);
    const logger = createLogger('silent');
    const files = {
      add: counted(rows.add),
      startDelete: counted(rows.startDelete),
      finishDelete: counted(rows.finishDelete),
    };
    const folders = createInstalledBundles(own, clock);
    const blobs = { ...disk, remove: counted(disk.remove) };
    return createInstallation({
      store: createArchiveStore({
        ...{ archives: createArchiveRepository(database), files, blobs, clock, newId, logger },
        reportDamage: async () => true,
      }),
      folders: { ...folders, put: counted(folders.put), remove: counted(folders.remove) },
      registry: noRegistry,
      readPiece: readTea,
      fetchLogo: async () => logo,
      readDefinitions: () => assert.fail('nothing is converted'),
      publishers: createPublisherRepository(database),
      load: (path) => loadBundle(path, []),
      onChange,
      queue: createAdmission().queue('bundle_plans'),
      audit: { record: async (_by, { action }) => void actions.push(action), recordRefusal: () => {} },
      ...{ clock, logger, metrics: createMetrics() },
    });
  }
  const blobIds = async () => (await Array.fromAsync(disk.list())).map(({ blobId }) => blobId);
  const fileRows = () => database.read.selectFrom('file').select(['id', 'state']).execute();
  /** The version that the catalogue would load; undefined without a bundle. */
  const served = () => versionIn(installedFolder);
  const pass = (ms: number) => {
    now += ms;
  };
  return { start, node, blobIds, fileRows, served, pass, actions, installedFolder, disk, database };
}

async function versionIn(installedFolder: string): Promise<string | undefined> {
  const text = await readFile(join(installedFolder, 'piece_tea', 'bundle.yaml'), 'utf8').catch(() => '');
  return /^version: (.*)$/m.exec(text)?.[1];
}

for (const [name, open] of Object.entries(temporaryDatabases)) {
  test(`a plan shows what a package may do, and is installed, updated and removed: ${name}`, async (t) => {
    const store = await openStore(t, open);
    const installation = store.start();
    const plan = await installation.plan(request(tea('1.0.0')), by, signal);
    assert.equal(await store.served(), undefined, 'a plan installs nothing');
    const { about } = plan;
    assert.deepEqual(
      [about.bundle_id, about.licence, about.hosts, about.warnings, about.credentials, plan.update],
      ['piece_tea', 'none stated', ['tea.example.com'], ['Tea is hot.'], [{ name: 'token', secret: true }], null],
    );
    assert.deepEqual(about.actions, [{ plugin_id: 'brew', name: 'Tea', effects: 'write' }]);
    await assert.rejects(installation.install(plan.id, { digest: '0'.repeat(64) }, by), { code: 'DUPLICATE_OBJECT' });
    const again = await installation.plan(request(tea('1.0.0')), by, signal);
    assert.equal(again.about.digest, about.digest, 'the same package has the same digest');
    await installation.install(plan.id, { digest: about.digest }, by);
    assert.equal(await store.served(), '1.0.0');
    await assert.rejects(installation.install(plan.id, { digest: about.digest }, by), { code: 'OBJECT_NOT_FOUND' });

    const changed = { hosts: ['tea.example.com', 'leaves.example.com'], effects: 'destructive', place: 'x-tea' };
    const update = await installation.plan(request(tea('1.1.0', changed)), by, signal);
    assert.deepEqual(update.update, {
      from_version: '1.0.0',
      added: {
        actions: [{ plugin_id: 'brew', name: 'Tea', effects: 'destructive' }],
        ...{ credentials: [], hosts: ['leaves.example.com'], credential_hosts: [] },
        places: [{ in: 'header', name: 'x-tea' }],
      },
      removed: {
        actions: [{ plugin_id: 'brew', name: 'Tea', effects: 'write' }],
        ...{ credentials: [], hosts: [], credential_hosts: [] },
        places: [{ in: 'header', name: 'authorization' }],
      },
    });
    assert.match(update.about.warnings[1] ?? '', /from a file, so its origin is not verified/);
    assert.equal(await store.served(), '1.0.0', 'an update needs the confirmation');
    const edit = { hosts: ['tea.example.com'], credential_places: { hosts: [], places: [] } };
    const installed = await installation.install(update.id, { digest: update.about.digest, ...edit }, by);
    assert.notEqual(installed.about.digest, update.about.digest);
    const manifest = await readFile(join(store.installedFolder, 'piece_tea', 'bundle.yaml'), 'utf8');
    assert.match(manifest, /^hosts:\n {2}- tea\.example\.com\n[a-z]/m);
    assert.deepEqual(
      (await installation.list()).map(({ about: { version, hosts } }) => [version, hosts]),
      [['1.1.0', edit.hosts]],
    );
    const more = await installation.plan(request(tea('1.1.1')), by, signal);
    const herbs = 'herbs.example.com';
    const header = { in: 'header' as const, name: 'authorization' };
    const credential_places = { hosts: [herbs], places: [header, { in: 'query' as const, name: 'key' }] };
    await installation.install(
      more.id,
      { digest: more.about.digest, hosts: ['tea.example.com', herbs], credential_places },
      by,
    );
    const kept = (await installation.plan(request(tea('1.1.2')), by, signal)).about;
    const foreign = request(packageOf('//{}', { name: '@other/piece-tea', version: '2.0.0' }));
    await assert.rejects(installation.plan(foreign, by, signal), { code: 'DUPLICATE_OBJECT', message: /@other/ });
    assert.deepEqual(
      [kept.hosts, kept.credential_places?.hosts],
      [['tea.example.com', herbs], [herbs]],
      'an update keeps what was added and what was removed',
    );
    assert.deepEqual(kept.credential_places?.places, credential_places.places);
    const other = { hosts: [], credential_places: { hosts: ['evil.example.com'], places: [] } };
    const third = await installation.plan(request(tea('1.2.0')), by, signal);
    await assert.rejects(installation.install(third.id, { digest: third.about.digest, ...other }, by), {
      code: 'REQUEST_VALIDATION_ERROR',
      message: /evil\.example\.com is not one of the bundle's "hosts"/,
    });

    await installation.remove('piece_tea', by);
    assert.equal(await store.served(), undefined);
    assert.deepEqual(await installation.list(), []);
    await assert.rejects(installation.remove('piece_tea', by), { code: 'OBJECT_NOT_FOUND' });
    store.pass(3_600_001);
    await installation.reconcile();
    assert.deepEqual([await store.fileRows(), await store.blobIds()], [[], []], 'nothing is left');
    const done = [
      'planned',
      'planned',
      'installed',
      'planned',
      'updated',
      'planned',
      'updated',
      'planned',
      'planned',
      'removed',
    ];
    assert.deepEqual(
      store.actions,
      done.map((action) => `bundle.${action}`),
    );
    await store.database.check();
  });

  test(`a process with an empty disk restores bundles from their archives, and mends changed files: ${name}`, async (t) => {
    const store = await openStore(t, open);
    const plan = await store.start().plan(request(tea('1.0.0')), by, signal);
    await store.start().install(plan.id, { digest: plan.about.digest }, by);
    await rm(store.installedFolder, { recursive: true });
    await store.start().reconcile();
    assert.equal(await store.served(), '1.0.0');
    await writeFile(join(store.installedFolder, 'piece_tea', 'bundle.yaml'), 'version: evil\n');
    await store.start().reconcile();
    assert.equal(await store.served(), '1.0.0');
  });
}

test('hosts and places of an installed bundle are changed without its source, and an update keeps the change', async (t) => {
  const store = await openStore(t);
  const installation = store.start();
  const about = { hosts: ['tea.example.com', 'ads.example.com'] };
  const first = await installation.plan(request(tea('1.0.0', about)), by, signal);
  const { about: installed } = await installation.install(first.id, { digest: first.about.digest }, by);
  const again = () => installation.plan({ source: { kind: 'installed', bundle_id: 'piece_tea' } }, by, signal);
  const plan = await again();
  assert.deepEqual([plan.about, plan.update?.added.hosts], [installed, []]);
  const hosts = ['tea.example.com', 'herbs.example.com'];
  const { about: edited } = await installation.install(plan.id, { digest: plan.about.digest, hosts }, by);
  assert.deepEqual([edited.version, edited.hosts], ['1.0.0', hosts]);
  assert.match(await readFile(join(store.installedFolder, 'piece_tea', 'bundle.yaml'), 'utf8'), /herbs\.example\.com/);
  const { about: later } = await installation.plan(request(tea('1.1.0', about)), by, signal);
  assert.deepEqual([later.hosts, later.removed.hosts], [hosts, ['ads.example.com']]);
  const back = await again();
  await installation.install(back.id, { digest: back.about.digest, hosts: [...hosts, 'ads.example.com'] }, by);
  const { about: last } = await installation.plan(request(tea('1.1.0', about)), by, signal);
  assert.deepEqual([...last.hosts].sort(), ['ads.example.com', 'herbs.example.com', 'tea.example.com']);
  const url = { digest: back.about.digest, hosts: ['https://tea.example.com/brew'] };
  await assert.rejects(installation.install(back.id, url, by), {
    code: 'REQUEST_VALIDATION_ERROR',
    message: /"https:\/\/tea\.example\.com\/brew" is not valid.*without a path/,
  });
  await assert.rejects(installation.install(back.id, { ...url, hosts: ['*.slack.com'] }, by), /Name a host such as/);
  const names = [
    [{ source: { kind: 'piece', package: 'tea' } }, /The package "tea" is not valid\..*scope/],
    [{ source: { kind: 'piece', package: '@x/tea', version: 'latest' } }, /The version "latest" is not valid/],
    [{ ...request(tea('1.0.0')), bundle_id: '../../x' }, /The id "\.\.\/\.\.\/x" is not valid/],
  ] as const;
  for (const [wanted, message] of names)
    await assert.rejects(installation.plan(wanted, by, signal), { code: 'REQUEST_VALIDATION_ERROR', message });
  const unknown = { source: { kind: 'installed' as const, bundle_id: 'piece_mint' } };
  await assert.rejects(installation.plan(unknown, by, signal), { code: 'OBJECT_NOT_FOUND' });
});

test('a plan is refused after another administrator has installed, changed or removed the bundle', async (t) => {
  const store = await openStore(t);
  const installation = store.start();
  const plan = () => installation.plan(request(tea('1.0.0')), by, signal);
  const install = ({ id, about }: Awaited<ReturnType<typeof plan>>, hosts?: string[]) =>
    installation.install(id, { digest: about.digest, ...(hosts === undefined ? {} : { hosts }) }, by);
  const isRefused = (old: Awaited<ReturnType<typeof plan>>) =>
    assert.rejects(install(old), { code: 'DUPLICATE_OBJECT', message: /piece_tea was .* Plan again/ });
  const [first, second] = [await plan(), await plan()];
  await install(first);
  await isRefused(second);
  const older = await plan();
  await install(await plan(), ['tea.example.com', 'herbs.example.com']);
  await isRefused(older);
  const [{ about } = assert.fail()] = await installation.list();
  assert.deepEqual(about.hosts, ['tea.example.com', 'herbs.example.com'], 'the change stays');
  const beforeRemoval = await plan();
  await installation.remove('piece_tea', by);
  await isRefused(beforeRemoval);
  assert.deepEqual(await installation.list(), [], 'the bundle stays removed');
});

test('a logo is no part of the digest, and one that cannot be shown is left out with a warning', async (t) => {
  const store = await openStore(t);
  const svg = (content: string) => ({ extension: 'svg' as const, content: Buffer.from(content) });
  const good = svg('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>');
  const icons: unknown[] = [];
  for (const logo of [null, svg('<svg><script>1</script></svg>'), good]) {
    const installation = store.start(Number.POSITIVE_INFINITY, logo);
    const plan = await installation.plan(request(tea('1.0.0')), by, signal);
    const { about } = await installation.install(plan.id, { digest: plan.about.digest }, by);
    assert.equal(about.digest, plan.about.digest);
    const manifest = await readFile(join(store.installedFolder, 'piece_tea', 'bundle.yaml'), 'utf8');
    icons.push([/^icon: .*$/m.exec(manifest)?.[0], about.warnings.find((text) => text.startsWith('The logo'))]);
  }
  assert.match(
    JSON.stringify(icons),
    /^\[\[null,"The logo was left out: its.*\],\[null,"The logo was left out: .*script.*\],\["icon: logo\.svg",null\]\]$/,
  );
  const installation = store.start();
  await rm(store.installedFolder, { recursive: true });
  await installation.reconcile();
  assert.ok(await store.served(), 'a bundle with a logo is restored');
  const plan = await installation.plan({ source: { kind: 'installed', bundle_id: 'piece_tea' } }, by, signal);
  const { about } = await installation.install(
    plan.id,
    { digest: plan.about.digest, hosts: ['tea.example.com', 'a.example.com'] },
    by,
  );
  const same = await installation.plan(request(tea('1.0.0')), by, signal);
  assert.equal(same.about.digest, about.digest, 'the package with the same changes has the same digest');
});

test('a process that ends after any step of an installation, an update or a removal leaves nothing behind', async (t) => {
  let steps = 0;
  for (let left = 1, isComplete = false; !isComplete; left += 1) {
    const store = await openStore(t);
    const first = await store.start().plan(request(tea('1.0.0')), by, signal);
    await store.start().install(first.id, { digest: first.about.digest }, by);
    const update = await store.start().plan(request(tea('2.0.0')), by, signal);
    const wanted = { digest: update.about.digest };
    isComplete = await store
      .start(left)
      .install(update.id, wanted, by)
      .then(
        () => true,
        () => false,
      );
    const settle = async () => {
      await store.start().reconcile();
      // What the task "finish deletes" does.
      const files = createFileRepository(store.database);
      for (const deleting of await files.unfinishedDeletes(100)) {
        if (deleting.removeBlob) await store.disk.remove(deleting.blobId);
        await files.finishDelete(deleting);
      }
      // What the sweep of orphans does.
      const [known, blobs] = [await files.knownBlobs(await store.blobIds()), await store.blobIds()];
      for (const id of blobs) if (!known.has(id)) await store.disk.remove(id);
    };
    store.pass(3_600_001);
    await settle();
    const [row, ...more] = await store.start().list();
    assert.deepEqual([row?.about.version, more], [await store.served(), []], `the row decides after ${left} steps`);
    const kept = [(await store.fileRows()).length, (await store.blobIds()).length];
    assert.deepEqual(kept, [1, 1], `one archive is left after ${left} steps`);
    const isRemoved = await store
      .start(left)
      .remove('piece_tea', by)
      .then(
        () => true,
        () => false,
      );
    await settle();
    const rows = await store.start().list();
    assert.equal(await store.served(), rows[0]?.about.version);
    if (isRemoved) assert.deepEqual([rows, await store.fileRows(), await store.blobIds()], [[], [], []]);
    steps = left;
  }
  assert.ok(steps >= 5, `only ${steps} steps`);
});

test('a damaged archive is not installed, and the bundle in force stays', async (t) => {
  const store = await openStore(t);
  const plan = await store.start().plan(request(tea('1.0.0')), by, signal);
  await store.start().install(plan.id, { digest: plan.about.digest }, by);
  const update = await store.start().plan(request(tea('2.0.0')), by, signal);
  const folder = join(store.installedFolder, '..');
  for (const name of await readdir(folder, { recursive: true }))
    if (name.endsWith(update.blobId)) await writeFile(join(folder, name), 'x');
  await assert.rejects(store.start().install(update.id, { digest: update.about.digest }, by), {
    code: 'SERVICE_UNAVAILABLE',
  });
  assert.equal(await store.served(), '1.0.0');
});

test('plans are bounded: the oldest one is deleted, and one that has expired cannot be installed', async (t) => {
  const store = await openStore(t);
  const installation = store.start();
  const first = await installation.plan(request(tea('1.0.0')), by, signal);
  for (let number = 1; number <= 20; number += 1) await installation.plan(request(tea(`1.0.${number}`)), by, signal);
  await assert.rejects(installation.install(first.id, { digest: first.about.digest }, by), {
    code: 'OBJECT_NOT_FOUND',
  });
  assert.equal((await store.fileRows()).length, 20);
  const last = await installation.plan(request(tea('2.0.0')), by, signal);
  store.pass(3_600_001);
  await assert.rejects(installation.install(last.id, { digest: last.about.digest }, by), { code: 'OBJECT_NOT_FOUND' });
});

const alice = newKeyPair();
const eve = newKeyPair();

/** Packs a bundle as its publisher does. */
async function packed(version: string, privatePem: string | null, code: Tea = {}): Promise<Buffer> {
  const about = { name: 'tea', version, integrity: '', licence: null, packedFrom: null };
  const { files } = await readTea({ ...about, file: Buffer.from(`//${JSON.stringify(code)}`) }, 'piece_tea', signal);
  const listed = [...files].map(([path, content]) => listFile(path, content));
  const contentsBytes = writeContents({ bundleId: 'piece_tea', version, files: listed });
  const key = privatePem === null ? undefined : readPrivateKey(privatePem);
  return writeArchive({ contentsBytes, signature: key === undefined ? null : sign(contentsBytes, key), files });
}

const archive = async (version: string, pem: string | null) => ({
  source: { kind: 'archive' as const, content: (await packed(version, pem)).toString('base64') },
});

test('an archive is installed when its publisher is trusted or the operator accepts it, and no publisher replaces another', async (t) => {
  const store = await openStore(t);
  const installation = store.start();
  const rows = createPublisherRepository(store.database);
  const publishers = adoptPublishers(store.installedFolder, rows);
  await mkdir(store.installedFolder);
  const file = join(store.installedFolder, '.publishers.json');
  await writeFile(file, '[');
  await assert.rejects(publishers.list(), /\.publishers\.json does not hold a list of publishers/);
  const listed = [
    { key: alice.publicKey, name: 'Alice' },
    { key: eve.publicKey, name: 'Eve' },
  ];
  await writeFile(file, JSON.stringify(listed));
  assert.equal(await publishers.remove(eve.publicKey), true, 'the file of an earlier version is read first');
  assert.equal(await publishers.remove(eve.publicKey), false);
  assert.deepEqual([await rows.list(), await readdir(store.installedFolder)], [listed.slice(0, 1), []]);
  const install = async (version: string, pem: string | null, accept_publisher = false) => {
    const { id, about } = await installation.plan(await archive(version, pem), by, signal);
    assert.equal(about.kind, 'archive');
    await installation.install(id, { digest: about.digest, ...(accept_publisher ? { accept_publisher } : {}) }, by);
    return about.trust;
  };
  await assert.rejects(install('1.0.0', null), { code: 'REQUEST_VALIDATION_ERROR', message: /is not signed/ });
  await assert.rejects(install('1.0.0', eve.privatePem), /which you do not trust yet/);
  assert.equal(await store.served(), undefined);
  assert.equal(await install('1.0.0', null, true), 'unsigned');
  assert.equal(await install('1.1.0', eve.privatePem, true), 'unknown');
  const changed = (await packed('1.1.1', eve.privatePem, { effects: 'read' })).toString('base64');
  const update = await installation.plan({ source: { kind: 'archive', content: changed } }, by, signal);
  assert.deepEqual(update.about.warnings, ['These actions differ from those of the installed version: brew.']);
  await assert.rejects(install('1.2.0', alice.privatePem), /installed from another publisher \(ed25519:/);
  await assert.rejects(install('1.2.0', null, true), /installed from another publisher/);
  await assert.rejects(installation.plan(request(tea('2.0.0')), by, signal), {
    code: 'DUPLICATE_OBJECT',
    message: /is from piece_tea, not from @activepieces\/piece-tea/,
  });
  await installation.remove('piece_tea', by);
  assert.equal(await install('1.2.0', alice.privatePem), 'trusted');
  const [row] = await installation.list();
  assert.equal(row?.about.publisher, alice.publicKey);
  await rm(store.installedFolder, { recursive: true });
  await store.start().reconcile();
  const restored = createInstalledBundles(store.installedFolder);
  assert.equal((await restored.find('piece_tea'))?.publisher, alice.publicKey, 'its signature is restored too');
});

test('a bundle that was installed without a row gets one, once, and a damaged one stays', async (t) => {
  const store = await openStore(t);
  const folders = createInstalledBundles(store.installedFolder);
  const earlier = await openArchive(await packed('1.0.0', alice.privatePem));
  await folders.put(earlier, async () => {});
  const changed = join(store.installedFolder, 'piece_tea', 'bundle.yaml');
  const text = await readFile(changed);
  await writeFile(changed, 'version: evil\n');
  await store.start().reconcile();
  assert.deepEqual([await store.start().list(), await store.served()], [[], 'evil']);
  await writeFile(changed, text);
  await store.start().reconcile();
  await rm(join(store.installedFolder, 'piece_tea'));
  const node = store.start();
  await node.reconcile();
  const [row, ...others] = await node.list();
  assert.deepEqual(
    [row?.about.kind, row?.about.publisher, row?.archiveDigest, others],
    ['archive', alice.publicKey, earlier.digest, []],
  );
  assert.equal(await store.served(), '1.0.0', 'the folder is restored from the new archive');
  await node.remove('piece_tea', by);
  await folders.put(earlier, async () => {});
  await node.reconcile();
  assert.deepEqual([await node.list(), await store.served()], [[], undefined], 'from then on the rows decide');
});

test('a node whose archive is missing or damaged withdraws the version before, says why, and recovers', async (t) => {
  const store = await openStore(t);
  const first = store.start();
  const plan = await first.plan(request(tea('1.0.0')), by, signal);
  await first.install(plan.id, { digest: plan.about.digest }, by);
  const node = store.node();
  await node.follow();
  assert.equal(await node.served(), '1.0.0');
  const update = await first.plan(request(tea('2.0.0')), by, signal);
  const { blobId } = await first.install(update.id, { digest: update.about.digest }, by);
  const folder = join(store.installedFolder, '..');
  const names = await readdir(folder, { recursive: true });
  const path = join(folder, names.find((name) => name.endsWith(blobId)) ?? assert.fail());
  const bytes = await readFile(path);
  await writeFile(
    path,
    bytes.map((byte) => byte ^ 1),
  );
  await node.follow();
  assert.equal(await node.served(), undefined, 'the replaced version is not served');
  assert.match(
    node.missing().get('piece_tea') ?? '',
    /not offered on this node, because its archive is missing or damaged/,
  );
  await writeFile(path, bytes);
  await node.follow();
  assert.deepEqual([await node.served(), [...node.missing()]], ['2.0.0', []]);
  await first.remove('piece_tea', by);
  await node.follow();
  assert.equal(await node.served(), undefined);
  assert.deepEqual(node.steps(), ['1.0.0', undefined, '2.0.0', undefined], 'the catalogue is read after each change');
});

test('the hosts of an archive are not edited, and it keeps its id', async (t) => {
  const store = await openStore(t);
  const installation = store.start();
  const wanted = await archive('1.0.0', null);
  const { id, about } = await installation.plan(wanted, by, signal);
  const edited = { digest: about.digest, accept_publisher: true, hosts: ['evil.example.com'] };
  await assert.rejects(installation.install(id, edited, by), /cannot be edited/);
  await assert.rejects(installation.plan({ ...wanted, bundle_id: 'other' }, by, signal), /keeps the id/);
  const broken = { source: { kind: 'archive' as const, content: 'eA==' } };
  await assert.rejects(installation.plan(broken, by, signal), { code: 'REQUEST_VALIDATION_ERROR', message: /ZIP/ });
});

test('a bundle that was installed without a row is updated by its publisher only, and removed', async (t) => {
  const store = await openStore(t);
  const installation = store.start();
  const folders = createInstalledBundles(store.installedFolder);
  await folders.put(await openArchive(await packed('1.0.0', alice.privatePem)), async () => {});
  assert.deepEqual(await installation.list(), []);
  await assert.rejects(installation.plan(request(tea('2.0.0')), by, signal), { code: 'DUPLICATE_OBJECT' });
  await assert.rejects(installation.plan(await archive('2.0.0', eve.privatePem), by, signal), /another publisher/);
  const plan = await installation.plan(await archive('2.0.0', alice.privatePem), by, signal);
  await installation.install(plan.id, { digest: plan.about.digest, accept_publisher: true }, by);
  assert.equal(await store.served(), '2.0.0');
  await installation.remove('piece_tea', by);
  await folders.put(await openArchive(await packed('1.0.0', null)), async () => {});
  await installation.remove('piece_tea', by);
  assert.equal(await store.served(), undefined);
});
