import { spawnSync } from 'node:child_process';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** MiB/s at which `dd` writes zeroes durably into the folder. */
export async function diskRate(folder: string, mebibytes: number): Promise<number> {
  const file = join(folder, 'dd.bin');
  const started = performance.now();
  const { status } = spawnSync('dd', ['if=/dev/zero', `of=${file}`, 'bs=1M', `count=${mebibytes}`, 'conv=fdatasync'], {
    stdio: 'ignore',
  });
  const seconds = (performance.now() - started) / 1000;
  await rm(file, { force: true });
  if (status !== 0) throw new Error('dd failed');
  return mebibytes / seconds;
}

/**
 * Files a second that can be made durable one by one (write, fsync, rename, fsync of the folder), `lanes` at a time. They
 * stay: ext4 gives a freed inode to nobody for a minute and more and looks at each when it makes a file, so that removing
 * thousands makes every file after them ten times as dear, ours too.
 */
export async function durableFileRate(folder: string, lanes: number, seconds: number): Promise<number> {
  const target = join(folder, 'durable');
  await mkdir(target);
  const directory = await open(target, 'r');
  const content = Buffer.alloc(8192, 'x');
  const end = performance.now() + seconds * 1000;
  let made = 0;
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      for (let i = 0; performance.now() < end; i++) {
        const name = join(target, `${lane}-${i}`);
        const file = await open(`${name}.part`, 'wx');
        await file.write(content);
        await file.sync();
        await file.close();
        await rename(`${name}.part`, name);
        await directory.sync();
        made++;
      }
    }),
  );
  await directory.close();
  return made / seconds;
}
