import assert from 'node:assert/strict';
import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createLogger } from '../../platform/log/logger.ts';
import { temporaryFolder } from '../../platform/testing/temporary-folder.ts';
import { lockFolder } from '../../storage/disk/folder-lock.ts';
import { checkBundleFolders, checkDataFolder } from './wire-blobs.ts';

function recordLog() {
  const lines: string[] = [];
  return { lines, logger: createLogger('info', { write: (line: string) => void lines.push(line) }) };
}

test('a data folder that all users can write to is refused, with its mode and the remedy', async (t) => {
  const folder = await temporaryFolder(t);
  for (const mode of [0o777, 0o1777, 0o702, 0o773]) {
    await chmod(folder, mode);
    const { lines, logger } = recordLog();
    const shown = mode.toString(8).padStart(4, '0');
    await assert.rejects(checkDataFolder(folder, logger), (error: Error) => {
      return error.message.includes(`${folder} (mode ${shown})`) && error.message.includes('Run "chmod o-w"');
    });
    assert.deepEqual(lines, []);
  }
});

test('a data folder that its group can write to or others can read is reported once', async (t) => {
  const folder = await temporaryFolder(t);
  const warnings = async (mode: number) => {
    await chmod(folder, mode);
    const { lines, logger } = recordLog();
    await checkDataFolder(folder, logger);
    return lines.length;
  };
  for (const mode of [0o770, 0o2770, 0o755, 0o704]) assert.equal(await warnings(mode), 1, mode.toString(8));
  for (const mode of [0o700, 0o750, 0o710, 0o711]) assert.equal(await warnings(mode), 0, mode.toString(8));
});

test('a folder of bundles, or a bundle in it, that all users can write to is refused', async (t) => {
  const folder = await temporaryFolder(t);
  const bundle = join(folder, 'weather');
  await mkdir(bundle, { mode: 0o755 });
  const { lines, logger } = recordLog();
  const check = (...bundleFolders: string[]) =>
    checkBundleFolders({ installedBundles: join(folder, 'installed'), bundleFolders }, logger);
  await check(folder);
  assert.deepEqual(lines, []);
  await chmod(bundle, 0o775);
  await check(folder);
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /bundle folder writable by its group/);
  await chmod(bundle, 0o777);
  await assert.rejects(check(folder), /weather \(mode 0777\), and the service runs the bundles/);
  await chmod(bundle, 0o755);
  await chmod(folder, 0o777);
  await assert.rejects(check(folder), /chmod -R o-w/);
});

test('a folder of bundles in the settings that is missing, or a file, is refused with the name of the setting', async (t) => {
  const folder = await temporaryFolder(t);
  const file = join(folder, 'file');
  await writeFile(file, '');
  const { lines, logger } = recordLog();
  for (const wrong of [join(folder, 'misspelt'), file]) {
    const check = checkBundleFolders(
      { installedBundles: join(folder, 'installed'), bundleFolders: [folder, wrong] },
      logger,
    );
    await assert.rejects(check, {
      message: `QUARTERMASTER_BUNDLES names ${wrong}, which is not a folder or cannot be read. Create the folder, or correct the setting.`,
    });
  }
  assert.deepEqual(lines, []);
});

test('only the owner can open the lock of a data folder, also one that others could open', async (t) => {
  const folder = await temporaryFolder(t);
  const file = join(folder, 'in-use.lock');
  lockFolder(folder).release();
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  await chmod(file, 0o644);
  lockFolder(folder).release();
  assert.equal((await stat(file)).mode & 0o777, 0o600);
});
