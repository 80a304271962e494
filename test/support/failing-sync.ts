import { execFile } from 'node:child_process';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Ending, temporaryFolder } from './service.ts';

const run = promisify(execFile);
const source = join(import.meta.dirname, 'fail-sync.c');

/** A disk that reports a failed sync. */
export interface FailingSync {
  /** Command prefix that runs a service on this disk. */
  readonly launcher: readonly string[];
  /**
   * Lets the next sync of the file fail with EIO.
   * @param containing lets only a sync fail that finds this text in the file, so that background work does not meet it
   */
  failNext(containing?: string): Promise<void>;
}

/** @param ofFile the end of the path of the file whose sync can fail */
export async function createFailingSync(t: Ending, ofFile: string): Promise<FailingSync> {
  const folder = await temporaryFolder(t);
  const library = join(folder, 'fail-sync.so');
  const trigger = join(folder, 'fail-next');
  await run('gcc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl']);
  const environment = [`LD_PRELOAD=${library}`, `FAIL_SYNC_OF=${ofFile}`, `FAIL_SYNC_WHEN=${trigger}`];
  const failNext = async (containing = '') => {
    await writeFile(`${trigger}.new`, containing);
    await rename(`${trigger}.new`, trigger);
  };
  return { launcher: ['/usr/bin/env', ...environment], failNext };
}
