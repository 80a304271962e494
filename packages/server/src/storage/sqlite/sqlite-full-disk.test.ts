import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createLogger } from '../../platform/log/logger.ts';
import type { Database } from '../database/database.ts';
import { openDatabase } from '../open-database.ts';

const run = promisify(execFile);
const logger = createLogger('silent');

describe('SQLite on a full disk', () => {
  let folder: string;
  let database: Database;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'quartermaster-full-'));
    // Mounting needs root, as the network namespaces of other tests do.
    await run('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder]);
    database = await openDatabase({ admission: createAdmission(), url: null, dataFolder: folder, logger });
  });
  after(async () => {
    await database.close();
    await run('umount', [folder]);
    await rm(folder, { recursive: true });
  });
  const ballast = () => path.join(folder, 'ballast');
  const add = (n: number) =>
    database.write
      .insertInto('project')
      .values({ id: `p${n}`, name: `${n}`.padEnd(5000, '-'), created_at: 0 })
      .execute();

  it('the database is not ready and refuses writes with 507 until the disk has space again', async () => {
    await add(1);
    await database.check();
    await writeFile(ballast(), Buffer.alloc(8 * 1024 * 1024)).catch((error) => assert.equal(error.code, 'ENOSPC'));
    await assert.rejects(Promise.all(Array.from({ length: 100 }, (_, n) => add(n + 2))), {
      code: 'INSUFFICIENT_STORAGE',
    });
    // A success is reused for one second.
    const isReady = () =>
      database.check().then(
        () => true,
        (error) => assert.equal(error.code, 'INSUFFICIENT_STORAGE'),
      );
    while (await isReady()) await pause(20);
    await database.read.selectFrom('project').select('id').execute();
    await rm(ballast());
    await database.check();
    await add(1000);
  });
});
