import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { repeatsKills } from '../../../../../../test/support/kill-depth.ts';
import { createTestDatabase } from '../../../../../../test/support/postgres.ts';
import { createAdmission } from '../../../kernel/admission/admission.ts';
import { createLogger } from '../../../kernel/log/logger.ts';
import { until } from '../../../kernel/testing/until.ts';
import { startPageBuilder } from '../../../search/vector-pages/page-builder.ts';
import type { VectorPageRepository } from '../../../search/vector-pages/vector-page-repository.ts';
import { checkVectors } from '../../database/check-vectors.ts';
import { openDatabase } from '../../database/open-database.ts';
import { createCollectionRepositories } from './collection-repositories.ts';

const program = fileURLToPath(new URL('./testing/paging-process.fixture.ts', import.meta.url));
const logger = createLogger('silent');
const kills = repeatsKills ? 20 : 3;

const places = {
  SQLite: async () => ({ url: null, drop: async () => {} }),
  PostgreSQL: () => createTestDatabase(),
};

/** Builds pages until less than a page is left. */
async function buildRest(pages: VectorPageRepository, collectionId: string): Promise<void> {
  const builder = startPageBuilder({ pages, hasFreeSpace: async () => true, logger, pauseMs: 10 });
  await until(async () => {
    const space = (await pages.listSpaces()).find((each) => each.collectionId === collectionId);
    return space !== undefined && !(await pages.hasUnpaged(space, 2048));
  });
  await builder.close();
}

for (const [name, open] of Object.entries(places)) {
  test(`a process that is killed while it builds pages of vectors leaves whole pages in ${name}, and the next process continues`, async (t) => {
    const { url, drop } = await open();
    const folder = await mkdtemp(join(tmpdir(), 'quartermaster-page-kills-'));
    t.after(async () => {
      await drop();
      await rm(folder, { recursive: true });
    });
    for (let kill = 0; kill < kills; kill++) {
      const plan = JSON.stringify({ folder, url });
      const child = spawn(process.execPath, [program, plan], { stdio: ['ignore', 'pipe', 'inherit'] });
      const [collectionId] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
      const database = await openDatabase({ admission: createAdmission(), url, dataFolder: folder, logger });
      const { pages } = createCollectionRepositories(database).vectors;
      const version = async () =>
        (await pages.listSpaces()).find((each) => each.collectionId === collectionId)?.pageVersion ?? 0;
      await until(async () => (await version()) > kill);
      // The kill comes at another moment each time.
      await setTimeout(kill * 7);
      child.kill('SIGKILL');
      assert.deepEqual(await once(child, 'exit'), [null, 'SIGKILL']);
      assert.deepEqual(await checkVectors(database, collectionId), []);
      await buildRest(pages, collectionId);
      assert.deepEqual(await checkVectors(database, collectionId), []);
      await database.close();
    }
  });
}
