import assert from 'node:assert/strict';
import { chmod, cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { checkStores } from '../support/check-stores.ts';
import { createFailingSync } from '../support/failing-sync.ts';
import { knownBetween, rememberNow } from '../support/known-at-some-time.ts';
import { createTestDatabase, postgresPrograms } from '../support/postgres.ts';
import { succeed } from '../support/run-command.ts';
import { type StartedService, share, startService, temporaryFolder } from '../support/service.ts';
import { createStoreCaller, type KnownStores, type StoreCaller } from '../support/store-caller.ts';

const backups = 2;
const callersAtOnce = 4;
const callsBefore = 40;
/** Calls during a backup. More calls would only enlarge the stores that the test checks afterwards. */
const callsMeanwhile = 80;

const shared = share(startService);

test('[backup] a backup that is created during use contains everything that was acknowledged before it and not changed since', async (t) => {
  const service = await startService(t);
  const into = await temporaryFolder(t);
  const finished = await backUpWhileUsed(service, (name) => backUp({ DATA: service.folder }, join(into, name)));
  await service.kill();
  for (const backup of finished) await checkCopy(t, service.key, backup);
});

test('[backup] with PostgreSQL, the dump matches the copied files, and no command argument contains the password', async (t) => {
  const [database, restored] = [await createTestDatabase(), await createTestDatabase()];
  t.after(() => Promise.all([database.drop(), restored.drop()]));
  const url = new URL(database.url);
  url.password = 'pass-word-5c1';
  const service = await startService(t, { settings: { DATABASE_URL: url.href } });
  const programs = await temporaryFolder(t);
  const args = join(programs, 'arguments');
  const into = await temporaryFolder(t);
  await recordArguments(programs, args);
  const settings = { DATA: service.folder, DATABASE_URL: url.href };
  const environment = { PATH: `${programs}:${process.env.PATH}` };
  const finished = await backUpWhileUsed(service, (name) => backUp(settings, join(into, name), environment));
  const withoutPrograms = backUp(settings, join(into, 'none'), { PATH: into });
  await assert.rejects(withoutPrograms, /pg_dump is not on the PATH/);
  assert.deepEqual((await readdir(into)).sort(), ['backup-0', 'backup-1']);
  await service.kill();
  const last = finished.at(-1) ?? assert.fail('no backup was made');
  const folder = await restore({ DATABASE_URL: restored.url }, last.folder, join(into, 'restored'));
  const again = restore({ DATABASE_URL: restored.url }, last.folder, join(into, 'again'));
  await assert.rejects(again, /already holds a store/);
  await checkCopy(t, service.key, { ...last, folder }, { DATABASE_URL: restored.url });
  const seen = await readFile(args, 'utf8');
  assert.match(seen, /--snapshot=/);
  assert.doesNotMatch(seen, /pass-word-5c1/);
});

test('[backup] a backup into an existing folder, of no store or of a stopped database server creates nothing and names the reason', async (t) => {
  const service = await shared();
  const folder = await temporaryFolder(t);
  const settings = { DATA: service.folder };
  await assert.rejects(backUp(settings, folder), /already exists/);
  const noStore = backUp({ DATA: join(folder, 'nowhere') }, join(folder, 'two'));
  await assert.rejects(noStore, /No Quartermaster store found in/);
  const nobody = { ...settings, DATABASE_URL: 'postgres://127.0.0.1:1/x' };
  await assert.rejects(backUp(nobody, join(folder, 'three')), /ECONNREFUSED/);
  assert.deepEqual(await readdir(folder), []);
});

test('[backup] a backup into the data folder, or one that would replace a folder which contains the data folder, is refused before anything is written', async (t) => {
  const parent = await temporaryFolder(t);
  const data = join(parent, 'two.unfinished/data');
  await mkdir(join(parent, 'links'));
  await mkdir(data, { recursive: true });
  const service = await startService(t, { folder: data });
  await service.client.files.upload(new Blob(['tea']), { purpose: 'record_file', name: 'tea.md' });
  // The service stops first, because it may write its own files.
  assert.equal(await service.stop(), 0);
  await symlink(data, join(parent, 'links/data'));
  const before = await treeOf(parent);
  for (const folder of [join(data, 'one'), join(data, 'blobs/a/b'), join(parent, 'links/data/one')]) {
    await assert.rejects(backUp({ DATA: data }, folder), /inside the data folder .* Name a folder outside of it/);
  }
  await assert.rejects(backUp({ DATA: data }, join(parent, 'two')), /would replace .*two\.unfinished, which contains/);
  assert.deepEqual(await treeOf(parent), before);

  const backup = await backUp({ DATA: data }, join(parent, 'three.unfinished'));
  const held = await treeOf(parent);
  for (const target of [join(backup, 'new'), join(parent, 'three')]) {
    await assert.rejects(restore({}, backup, target), /inside the backup|would replace .*three\.unfinished/);
  }
  assert.deepEqual(await treeOf(parent), held);
});

test('[backup] a backup refuses to replace a link or a folder of another user, and leaves it unchanged', async (t) => {
  const service = await shared();
  const into = await temporaryFolder(t);
  await mkdir(join(into, 'theirs'));
  await writeFile(join(into, 'theirs/precious'), 'kept');
  await symlink(join(into, 'theirs'), join(into, 'one.unfinished'));
  await mkdir(join(into, 'two.unfinished'));
  await writeFile(join(into, 'two.unfinished/precious'), 'kept');
  const before = await treeOf(into);
  for (const name of ['one', 'two']) {
    await assert.rejects(backUp({ DATA: service.folder }, join(into, name)), /not created by a backup or a restore/);
  }
  assert.deepEqual(await treeOf(into), before);
});

test('[backup] an interrupted backup is replaced by the next one', async (t) => {
  const service = await shared();
  const into = await temporaryFolder(t);
  await service.client.files.upload(new Blob(['tea']), { purpose: 'record_file', name: 'tea.md' });
  await mkdir(join(into, 'one.unfinished/blobs'), { recursive: true });
  await writeFile(join(into, 'one.unfinished/blobs/half'), 'of a file');
  await backUp({ DATA: service.folder }, join(into, 'one'));
  assert.deepEqual(await readdir(into), ['one']);
  assert.equal((await readdir(join(into, 'one/blobs'))).includes('half'), false);
});

test('[backup] a backup whose last sync fails leaves no folder that blocks the next backup', async (t) => {
  const service = await shared();
  const into = await temporaryFolder(t);
  const failing = await createFailingSync(t, into);
  const environment = Object.fromEntries(failing.launcher.slice(1).map((pair) => pair.split('=')));
  await failing.failNext();
  await assert.rejects(backUp({ DATA: service.folder }, join(into, 'one'), environment), /EIO/);
  assert.deepEqual(await readdir(into), []);
  await backUp({ DATA: service.folder }, join(into, 'one'), environment);
  assert.deepEqual(await readdir(into), ['one']);
});

test('[restore] a changed backup is refused and nothing is restored, unless the operator asks for the undamaged rest', async (t) => {
  const service = await startService(t);
  const into = await temporaryFolder(t);
  for (const text of ['tea', 'coffee']) {
    await service.client.files.upload(new Blob([text]), { purpose: 'record_file', name: 'drink.md' });
  }
  const backup = await backUp({ DATA: service.folder }, join(into, 'backup'));
  await restore({}, backup, join(into, 'good'));
  await assert.rejects(restore({}, backup, join(into, 'good')), /good already exists/);
  const target = ['restore', backup, join(into, 'bad')];
  const elsewhere = command({ DATABASE_URL: 'postgres://127.0.0.1:1/x' }, target);
  await assert.rejects(elsewhere, /of a SQLite store.*Unset QUARTERMASTER_DATABASE_URL/);

  const names = await readdir(join(backup, 'blobs'), { recursive: true, withFileTypes: true });
  const [first] = names.filter((entry) => entry.isFile());
  await writeFile(join(first?.parentPath ?? '', first?.name ?? ''), 'changed');
  await assert.rejects(command({}, target), /content of 1 files.*"drink.md" \(file\w{20}\).*Nothing was restored/);
  assert.deepEqual((await readdir(into)).sort(), ['backup', 'good']);
  const partly = await command({}, [...target, '--damaged']).catch((error) => error);
  assert.equal(partly.code, 1);
  const [fault] = JSON.parse(partly.output).faults;
  const files = (await service.client.files.list()).data;
  const hurt = files.find(({ file_id: id }) => id === fault.files[0].fileId);
  assert.deepEqual([fault.kind, fault.files[0].name, hurt?.file_name], ['content_differs', 'drink.md', 'drink.md']);

  await writeFile(join(backup, 'quartermaster.db'), 'changed');
  await assert.rejects(command({}, target.with(2, join(into, 'worse'))), /backup is damaged: quartermaster.db/);
  await assert.rejects(command({}, target.with(1, service.folder)), /is not a backup of this version/);
  await assert.rejects(command({}, target.with(1, join(into, 'nowhere'))), /The folder .*nowhere does not exist/);
});

interface FinishedBackup {
  readonly folder: string;
  readonly known: readonly KnownStores[];
}

/** Creates several backups while callers use the stores. Returns each with the facts that must hold of it. */
async function backUpWhileUsed(
  { client }: StartedService,
  backUp: (name: string) => Promise<string>,
): Promise<FinishedBackup[]> {
  const callers = Array.from({ length: callersAtOnce }, createStoreCaller);
  const finished: FinishedBackup[] = [];
  for (let number = 0; number < backups; number++) {
    await useStores(callers, client, (calls) => calls >= callsBefore);
    const before = callers.map(rememberNow);
    let isFinished = false;
    const [folder] = await Promise.all([
      backUp(`backup-${number}`).finally(() => {
        isFinished = true;
      }),
      useStores(callers, client, (calls) => isFinished || calls >= callsMeanwhile),
    ]);
    finished.push({
      folder,
      known: callers.map((caller, who) => knownBetween(before[who] ?? caller, rememberNow(caller))),
    });
  }
  return finished;
}

/** Lets every caller use the stores until enough calls were made. No call is running when it returns. */
async function useStores(
  callers: readonly StoreCaller[],
  client: StartedService['client'],
  isEnough: (calls: number) => boolean,
): Promise<void> {
  let calls = 0;
  await Promise.all(
    callers.map(async (caller) => {
      for (; !isEnough(calls); calls += 1) await caller.act(client);
    }),
  );
}

/** Asserts that a service on a copy of the backup has the expected contents, and that its bytes and rows match. */
async function checkCopy(
  t: TestContext,
  key: string,
  { folder, known }: FinishedBackup,
  settings: Readonly<Record<string, string>> = {},
): Promise<void> {
  const data = await temporaryFolder(t);
  await cp(folder, data, { recursive: true, verbatimSymlinks: true });
  // The database holds hashes of the keys; no backup contains their text.
  await writeFile(join(data, 'first-key'), key);
  const service = await startService(t, { folder: data, settings });
  await checkStores(service, known);
  assert.equal(await service.stop(), 0);
  assert.deepEqual(JSON.parse(await command({ DATA: data, ...settings }, ['fsck', '--hash'])).faults, []);
}

/** Returns every path except the files that SQLite and a running service may write at any time. */
async function treeOf(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => !/staging|blobs\/\.probe|\.db-|\.lock-/.test(name)).sort();
}

/** Runs a backup and returns the folder that the command reports. */
async function backUp(
  settings: Readonly<Record<string, string>>,
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const report = JSON.parse(await succeed({ settings, environment }, 'backup', folder));
  assert.deepEqual(report.faults, []);
  return report.folder;
}

/** Restores a backup and returns the folder that the command reports. */
async function restore(settings: Readonly<Record<string, string>>, from: string, to: string): Promise<string> {
  const report = JSON.parse(await command({ DATA: to, ...settings }, ['restore', from, to]));
  assert.deepEqual(report.faults, []);
  return report.folder;
}

const command = (settings: Readonly<Record<string, string>>, args: readonly string[]) => succeed({ settings }, ...args);

/** Installs a `pg_dump` that records its arguments and then runs the real one. */
async function recordArguments(folder: string, file: string): Promise<void> {
  const real = join(await postgresPrograms(), 'pg_dump');
  const program = join(folder, 'pg_dump');
  await writeFile(program, `#!/bin/sh\nprintf '%s\\n' "$@" >> '${file}'\nexec '${real}' "$@"\n`);
  await chmod(program, 0o755);
}
