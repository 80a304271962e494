import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type ChangingStore,
  createChangingStore,
} from '../../packages/server/src/storage/search-index/testing/changing-store.ts';
import { killKindsOf } from '../../packages/server/src/storage/search-index/testing/kill-points.ts';
import { checkIndexState } from '../power/check-index-state.ts';
import { describeCut } from '../power/choose-cut.ts';
import { buildCrashState } from '../power/crash-state.ts';
import { followLog, takeBase } from '../power/disk-model.ts';
import { chooseStepCut, type IndexPlan, knownAtCut } from '../power/index-marks.ts';
import type { RecordedIndex } from '../power/record-index.ts';
import { assertComplete, meaninglessAfterCrash } from '../power/record-store.ts';
import type { PartOptions, PartReport } from '../report.ts';
import { clusterClasses, createShim } from '../shim/build-shim.ts';
import { readDiskLog } from '../shim/disk-log.ts';
import { createEndings, mapWithConcurrency } from '../support/endings.ts';
import { adoptCluster, createCluster, startCluster } from './cluster.ts';

const run = promisify(execFile);
const changingProcess = join(import.meta.dirname, '../power/index-process.ts');

/**
 * Cuts the power of a PostgreSQL server in every step of additions, removals, merges and deletions of search indexes. It
 * uses only the ordered model, because PostgreSQL itself relies on a file system that keeps the name of a synced file.
 */
export async function clusterIndexCuts(options: PartOptions): Promise<PartReport> {
  const { findings, work, slice, width } = options;
  const random = options.random.fork('power cuts, search index in PostgreSQL');
  const recordings = slice ? 1 : 3;
  const statesOfEachStep = slice ? 1 : 6;
  const kinds = killKindsOf('postgres');
  const totals = { durable: 0, kept: 0, lost: 0, torn: 0 };
  let [states, comparisons, entries] = [0, 0, 0];
  for (let index = 0; index < recordings; index++) {
    const name = `cluster-index-${index}`;
    const draw = random.fork(name);
    const { store, recording } = await recordClusterIndex(join(work, name), { ...options, random: draw });
    entries += recording.length;
    const steps = kinds.flatMap((kind) => Array<string>(statesOfEachStep).fill(kind));
    await mapWithConcurrency(steps, width, async (step, state) => {
      const folder = join(work, name, `state-${state}`);
      const cut = { ...chooseStepCut(recording, step, draw.fork(`cut ${state}`)), model: 'ordered' } as const;
      const counts = buildCrashState(recording, cut, folder, draw.fork(`state ${state}`));
      for (const key of ['durable', 'kept', 'lost', 'torn'] as const) totals[key] += counts[key];
      const found = findings.after(`${name}, state ${state}, ${step}: ${describeCut(cut)}`);
      const endings = createEndings();
      try {
        // The user of the PostgreSQL server must be able to enter the folder.
        chmodSync(folder, 0o711);
        await adoptCluster(join(folder, 'cluster'));
        const { url } = await startCluster(join(folder, 'cluster'), endings);
        const compared = await checkIndexState({
          ...{ store: { ...store, url }, known: knownAtCut(recording, cut.at), findings: found },
          ...{ random: draw.fork(`check ${state}`), withService: false },
        });
        comparisons += compared;
      } catch (error) {
        found.add('unavailable', String(error));
      } finally {
        await endings.end();
      }
      states += 1;
      rmSync(folder, { recursive: true, force: true });
    });
    rmSync(join(work, name), { recursive: true, force: true });
    options.log(`power cuts, search index in PostgreSQL: ${states} states`);
  }
  return {
    name: 'Power cuts, search index in PostgreSQL',
    cases: states,
    figures: {
      ...{ 'crash states': states, 'kinds of steps': kinds.length, recordings },
      ...{ 'answers compared with a scan': comparisons, 'recorded disk operations and steps': entries },
      ...{ 'durable changes': totals.durable, 'unsynced changes kept': totals.kept },
      ...{ 'unsynced changes lost': totals.lost, 'unsynced changes torn': totals.torn },
    },
  };
}

/** Records a PostgreSQL server while a process changes, merges and deletes search indexes. */
async function recordClusterIndex(place: string, { work, random }: PartOptions): Promise<RecordedIndex> {
  const endings = createEndings();
  const live = join(place, 'live');
  const cluster = join(live, 'cluster');
  mkdirSync(live, { recursive: true });
  await createCluster(cluster);
  try {
    const first = await startCluster(cluster, endings);
    const store: ChangingStore = await createChangingStore({ folder: place, url: first.url });
    await first.stop();

    const shim = createShim(work, live, clusterClasses);
    const base = takeBase(live, join(place, 'base'));
    shim.control.setRecording(true);
    const server = await startCluster(cluster, endings, shim.environment);
    const plan: IndexPlan = { store: { ...store, url: server.url }, seed: random.below(2 ** 31) };
    // The process only adds its marks to the log. Its own files are not recorded.
    await run(process.execPath, [changingProcess, JSON.stringify(plan)], {
      env: { ...process.env, PROOF_LOG: shim.logPath },
    });
    await server.stop();
    shim.control.setRecording(false);
    const recording = followLog(base, readDiskLog(shim.logPath), meaninglessAfterCrash);
    assertComplete(recording, live, join(place, 'complete'), random);
    return { store, recording };
  } finally {
    await endings.end();
  }
}
