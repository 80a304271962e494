import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startService } from '../../test/support/service.ts';
import type { Findings } from '../history/findings.ts';
import { checkCrashState } from '../power/check-crash-state.ts';
import { chooseCut, describeCut } from '../power/choose-cut.ts';
import { buildCrashState } from '../power/crash-state.ts';
import { followLog, type Recording, takeBase } from '../power/disk-model.ts';
import { assertComplete, meaninglessAfterCrash, useService } from '../power/record-store.ts';
import type { PartOptions, PartReport } from '../report.ts';
import { clusterClasses, createShim } from '../shim/build-shim.ts';
import { openMarkWriter, readDiskLog } from '../shim/disk-log.ts';
import { createEndings, mapWithConcurrency } from '../support/endings.ts';
import type { Random } from '../support/random.ts';
import { openUpstream } from '../support/upstream.ts';
import { adoptCluster, createCluster, startCluster } from './cluster.ts';

/**
 * Cuts the power of a machine with PostgreSQL and the service, whose folders are recorded together in one order. It
 * uses only the ordered model, because PostgreSQL itself relies on a file system that keeps the name of a synced file.
 */
export async function clusterPowerCuts(options: PartOptions): Promise<PartReport> {
  const { findings, work } = options;
  const random = options.random.fork('power cuts, PostgreSQL');
  const recordings = options.slice ? 1 : 3;
  const statesEach = options.slice ? 6 : 50;
  const totals = { durable: 0, kept: 0, lost: 0, torn: 0 };
  let [states, entries, acknowledged] = [0, 0, 0];
  for (let index = 0; index < recordings; index++) {
    const name = `cluster-${index}`;
    const draw = random.fork(name);
    const recording = await recordCluster(join(work, name), { ...options, random: draw });
    entries += recording.length;
    acknowledged += recording.marks.filter(({ text }) => text.includes('"answer"')).length;
    const cuts = Array.from({ length: statesEach }, (_, state) => chooseCut(recording, draw.fork(`cut ${state}`)));
    await mapWithConcurrency(cuts, options.width, async (chosen, state) => {
      const cut = { ...chosen, model: 'ordered' } as const;
      const folder = join(work, name, `state-${state}`);
      const counts = buildCrashState(recording, cut, folder, draw.fork(`state ${state}`));
      for (const key of ['durable', 'kept', 'lost', 'torn'] as const) totals[key] += counts[key];
      await checkState(
        { folder, recording, cutAt: cut.at, draw: draw.fork(`check ${state}`), fsck: state % 4 === 0 },
        findings.after(`${name}, ${describeCut(cut)}`),
      );
      states += 1;
      rmSync(folder, { recursive: true, force: true });
    });
    rmSync(join(work, name), { recursive: true, force: true });
    options.log(`power cuts, PostgreSQL: ${states} states`);
  }
  return {
    name: 'Power cuts, PostgreSQL',
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

async function recordCluster(place: string, { work, random, slice }: PartOptions): Promise<Recording> {
  const endings = createEndings();
  const live = join(place, 'live');
  const [cluster, folder] = [join(live, 'cluster'), join(live, 'store')];
  mkdirSync(folder, { recursive: true });
  await createCluster(cluster);
  try {
    const idle = await openUpstream(place);
    const first = await startCluster(cluster, endings);
    await (await startService(endings, { folder, settings: { ...idle.settings, DATABASE_URL: first.url } })).stop();
    await first.stop();
    await idle.close();

    const shim = createShim(work, live, clusterClasses);
    const marks = openMarkWriter(shim.logPath);
    const upstream = await openUpstream(place, (path) => marks.mark(JSON.stringify({ upstream: path })));
    endings.after(upstream.close);
    const base = takeBase(live, join(place, 'base'));
    shim.control.setRecording(true);
    const server = await startCluster(cluster, endings, shim.environment);
    const settings = { ...upstream.settings, DATABASE_URL: server.url };
    const service = await startService(endings, { folder, settings, launcher: shim.launcher });
    await useService(service, { random, clients: 6, requests: slice ? 250 : 800 }, marks.mark);
    await service.stop();
    await server.stop();
    shim.control.setRecording(false);
    marks.close();
    const recording = followLog(base, readDiskLog(shim.logPath), meaninglessAfterCrash);
    assertComplete(recording, live, join(place, 'complete'), random);
    return recording;
  } finally {
    await endings.end();
  }
}

interface State {
  readonly folder: string;
  readonly recording: Recording;
  readonly cutAt: number;
  readonly draw: Random;
  readonly fsck: boolean;
}

async function checkState({ folder, recording, cutAt, draw, fsck }: State, findings: Findings): Promise<void> {
  const endings = createEndings();
  try {
    const cluster = join(folder, 'cluster');
    // The user of the PostgreSQL server must be able to enter the folder.
    chmodSync(folder, 0o711);
    await adoptCluster(cluster);
    const server = await startCluster(cluster, endings);
    await checkCrashState({
      ...{ folder: join(folder, 'store'), recording, cutAt, findings, random: draw, withFsck: fsck },
      settings: { DATABASE_URL: server.url },
    });
  } catch (error) {
    findings.add('unavailable', String(error));
  } finally {
    await endings.end();
  }
}
