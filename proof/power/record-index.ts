import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import {
  type ChangingStore,
  createChangingStore,
} from '../../packages/server/src/storage/search-index/testing/changing-store.ts';
import { startService } from '../../test/support/service.ts';
import { createShim, storeClasses } from '../shim/build-shim.ts';
import { readDiskLog } from '../shim/disk-log.ts';
import { createEndings } from '../support/endings.ts';
import type { Random } from '../support/random.ts';
import { followLog, type Recording, takeBase } from './disk-model.ts';
import type { IndexPlan } from './index-marks.ts';
import { assertComplete, meaninglessAfterCrash } from './record-store.ts';

const run = promisify(execFile);
export const databaseFile = 'quartermaster.db';

export interface RecordedIndex {
  readonly store: ChangingStore;
  readonly recording: Recording;
}

/** Records a process that changes, rebuilds, merges and deletes search indexes in the store of a service. */
export async function recordIndex(options: {
  readonly work: string;
  readonly name: string;
  readonly random: Random;
}): Promise<RecordedIndex> {
  const place = join(options.work, options.name);
  const folder = join(place, 'live');
  mkdirSync(folder, { recursive: true });
  const store = await createChangingStore({ folder, url: null, projectId: await createService(folder) });
  const shim = createShim(options.work, folder, storeClasses);
  const base = takeBase(folder, join(place, 'base'));
  const plan: IndexPlan = { store, seed: options.random.below(2 ** 31) };
  shim.control.setRecording(true);
  await run(process.execPath, [join(import.meta.dirname, 'index-process.ts'), JSON.stringify(plan)], {
    env: { ...process.env, ...shim.environment },
  });
  shim.control.setRecording(false);
  const recording = followLog(base, readDiskLog(shim.logPath), meaninglessAfterCrash);
  assertComplete(recording, folder, join(place, 'complete'), options.random);
  return { store, recording };
}

/** Starts a service in an empty folder and stops it. Returns the id of its first project. */
async function createService(folder: string): Promise<string> {
  const endings = createEndings();
  try {
    await (await startService(endings, { folder })).stop();
  } finally {
    await endings.end();
  }
  using database = new DatabaseSync(join(folder, databaseFile), { readOnly: true });
  return String(database.prepare('select id from project').get()?.id);
}
