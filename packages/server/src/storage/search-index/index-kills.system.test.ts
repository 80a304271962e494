import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createChangingStore } from './testing/changing-store.ts';
import { testIndexKills } from './testing/index-kills.suite.ts';

const createFolder = () => mkdtemp(join(tmpdir(), 'quartermaster-index-kills-'));

testIndexKills(
  'a process that is killed in any step of an addition, removal, merge, rebuild, swap or deletion of a collection leaves an exact index',
  async () => ({
    dialect: 'sqlite',
    create: async () => createChangingStore({ folder: await createFolder(), url: null }),
    async copy(store) {
      const folder = await createFolder();
      await cp(store.folder, folder, { recursive: true });
      return { ...store, folder };
    },
    // The locks of SQLite end with the process.
    untilLeft: async () => {},
    remove: ({ folder }) => rm(folder, { recursive: true }),
  }),
);
