import { spawnSync } from 'node:child_process';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Returns the MiB/s at which `dd` writes zeroes durably into the folder. */
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
 * Returns the number of files per second that can be made durable one by one (write, fsync, rename, fsync of the
 * folder), `lanes` at a time. The files stay, because ext4 does not reuse a freed inode for more than a minute and
 * inspects each of them when it creates a file. Removing thousands of files would make each later file ten times as
 * slow, also in the service.
 */
export async function durableFileRate(folder: string, lanes: number, seconds: number): Promise<number> {
  const target = join(folder, 'durable');
  await mkdir(target);
  const directory = await open(target, 'r');
  const content = Buffer.alloc(8192, 'x');
  const end = performance.now() + seconds * 1000;
  let created = 0;
  await Promise.all(
    Array.from({ length: lanes }, async (_, writer) => {
      for (let i = 0; performance.now() < end; i++) {
        const name = join(target, `${writer}-${i}`);
        const file = await open(`${name}.part`, 'wx');
        await file.write(content);
        await file.sync();
        await file.close();
        await rename(`${name}.part`, name);
        await directory.sync();
        created++;
      }
    }),
  );
  await directory.close();
  return created / seconds;
}
