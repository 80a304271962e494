import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { killKindsOf } from '../../packages/server/src/storage/search-index/testing/kill-points.ts';
import type { PartOptions, PartReport } from '../report.ts';
import { mapWithConcurrency } from '../support/endings.ts';
import { checkIndexState } from './check-index-state.ts';
import { describeCut } from './choose-cut.ts';
import { buildCrashState } from './crash-state.ts';
import { chooseStepCut, knownAtCut } from './index-marks.ts';
import { recordIndex } from './record-index.ts';

/** Cuts the power in every step of additions, removals, merges, rebuilds and deletions of search indexes in SQLite. */
export async function indexPowerCuts(options: PartOptions): Promise<PartReport> {
  const { findings, work, slice, width } = options;
  const random = options.random.fork('power cuts, search index');
  const kinds = killKindsOf('sqlite');
  const recordings = slice ? 1 : 4;
  const statesOfEachStep = slice ? 1 : 8;
  const statesPerStart = slice ? 9 : 4;
  const totals = { durable: 0, kept: 0, lost: 0, torn: 0 };
  let [states, starts, comparisons, entries] = [0, 0, 0, 0];
  for (let index = 0; index < recordings; index++) {
    const name = `index-${index}`;
    const draw = random.fork(name);
    const { store, recording } = await recordIndex({ work, name, random: draw });
    entries += recording.length;
    const steps = kinds.flatMap((kind) => Array<string>(statesOfEachStep).fill(kind));
    await mapWithConcurrency(steps, width, async (step, state) => {
      const folder = join(work, name, `state-${state}`);
      const cut = chooseStepCut(recording, step, draw.fork(`cut ${state}`));
      const counts = buildCrashState(recording, cut, folder, draw.fork(`state ${state}`));
      for (const key of ['durable', 'kept', 'lost', 'torn'] as const) totals[key] += counts[key];
      const withService = state % statesPerStart === 0;
      const compared = await checkIndexState({
        ...{ store: { ...store, folder }, known: knownAtCut(recording, cut.at), random: draw.fork(`check ${state}`) },
        ...{ withService, findings: findings.after(`${name}, state ${state}, ${step}: ${describeCut(cut)}`) },
      });
      comparisons += compared;
      states += 1;
      starts += Number(withService);
      rmSync(folder, { recursive: true, force: true });
    });
    rmSync(join(work, name), { recursive: true, force: true });
    options.log(`power cuts, search index: ${states} states`);
  }
  return {
    name: 'Power cuts, search index',
    cases: states,
    figures: {
      ...{ 'crash states': states, 'kinds of steps': kinds.length, recordings },
      ...{ 'starts of the service': starts, 'answers compared with a scan': comparisons },
      'recorded disk operations and steps': entries,
      ...{ 'durable changes': totals.durable, 'unsynced changes kept': totals.kept },
      ...{ 'unsynced changes lost': totals.lost, 'unsynced changes torn': totals.torn },
    },
  };
}
