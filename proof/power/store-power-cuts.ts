import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { PartOptions, PartReport } from '../report.ts';
import { mapWithConcurrency } from '../support/endings.ts';
import { checkCrashState } from './check-crash-state.ts';
import { chooseCut, describeCut } from './choose-cut.ts';
import { buildCrashState } from './crash-state.ts';
import { recordStore } from './record-store.ts';

/** Cuts the power of a service with SQLite: several recordings, and many states of each. */
export async function storePowerCuts(options: PartOptions): Promise<PartReport> {
  const { random: parent, findings, work } = options;
  const random = parent.fork('power cuts, SQLite');
  const recordings = options.slice ? 1 : 6;
  const statesEach = options.slice ? 12 : 60;
  const totals = { durable: 0, kept: 0, lost: 0, torn: 0 };
  let [states, entries, acknowledged] = [0, 0, 0];
  for (let index = 0; index < recordings; index++) {
    const name = `store-${index}`;
    const draw = random.fork(name);
    const recording = await recordStore({ work, name, random: draw, requests: options.slice ? 200 : 800, clients: 6 });
    entries += recording.length;
    acknowledged += recording.marks.filter(({ text }) => text.includes('"answer"')).length;
    const cuts = Array.from({ length: statesEach }, (_, state) => chooseCut(recording, draw.fork(`cut ${state}`)));
    await mapWithConcurrency(cuts, options.width, async (cut, state) => {
      const folder = join(work, name, `state-${state}`);
      const counts = buildCrashState(recording, cut, folder, draw.fork(`state ${state}`));
      for (const key of ['durable', 'kept', 'lost', 'torn'] as const) totals[key] += counts[key];
      await checkCrashState({
        ...{ folder, recording, cutAt: cut.at, random: draw.fork(`check ${state}`), settings: {} },
        findings: findings.after(`${name}, ${describeCut(cut)}`),
        withFsck: state % 4 === 0,
      });
      states += 1;
      rmSync(folder, { recursive: true, force: true });
      rmSync(`${folder}-bundles`, { recursive: true, force: true });
    });
    rmSync(join(work, name), { recursive: true, force: true });
    options.log(`power cuts, SQLite: ${states} states`);
  }
  return {
    name: 'Power cuts, SQLite',
    cases: states,
    figures: {
      ...{
        'crash states': states,
        recordings,
        'recorded disk operations and client events': entries,
        'known answers': acknowledged,
      },
      ...{ 'durable changes': totals.durable, 'unsynced changes kept': totals.kept },
      ...{ 'unsynced changes lost': totals.lost, 'unsynced changes torn': totals.torn },
    },
  };
}
