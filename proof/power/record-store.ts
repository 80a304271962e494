import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type StartedService, startService } from '../../test/support/service.ts';
import { createClient } from '../history/client.ts';
import { createHistory } from '../history/history.ts';
import { createShim, storeClasses } from '../shim/build-shim.ts';
import { openMarkWriter, readDiskLog } from '../shim/disk-log.ts';
import { createEndings } from '../support/endings.ts';
import type { Random } from '../support/random.ts';
import { openUpstream } from '../support/upstream.ts';
import { buildCrashState } from './crash-state.ts';
import { followLog, type Recording, takeBase } from './disk-model.ts';

/** Matches the index of SQLite's log, which SQLite rebuilds after a crash. */
export const meaninglessAfterCrash = /-shm$/;

export interface RecordOptions {
  readonly work: string;
  readonly name: string;
  readonly random: Random;
  /** Responses after which the recording ends. */
  readonly requests: number;
  readonly clients: number;
}

/** Records a service with SQLite from its second start to its stop, while clients use it. */
export async function recordStore(options: RecordOptions): Promise<Recording> {
  const endings = createEndings();
  const place = join(options.work, options.name);
  const folder = join(place, 'live');
  mkdirSync(folder, { recursive: true });
  try {
    const first = await openUpstream(place);
    await (await startService(endings, { folder, settings: first.settings })).stop();
    await first.close();

    const shim = createShim(options.work, folder, storeClasses);
    const marks = openMarkWriter(shim.logPath);
    const upstream = await openUpstream(place, (path) => marks.mark(JSON.stringify({ upstream: path })));
    endings.after(upstream.close);
    const base = takeBase(folder, join(place, 'base'));
    shim.control.setRecording(true);
    const service = await startService(endings, { folder, settings: upstream.settings, launcher: shim.launcher });
    await useService(service, options, marks.mark);
    const code = await service.stop();
    shim.control.setRecording(false);
    marks.close();
    if (code !== 0) throw new Error(`the recorded service ended with ${code}:\n${service.log()}`);
    const recording = followLog(base, readDiskLog(shim.logPath), meaninglessAfterCrash);
    assertComplete(recording, folder, join(place, 'complete'), options.random);
    return recording;
  } finally {
    await endings.end();
  }
}

/** Runs several concurrent clients until they have received enough responses. */
export async function useService(
  service: StartedService,
  { clients, requests, random }: Pick<RecordOptions, 'clients' | 'requests' | 'random'>,
  onEvent: (text: string) => void,
): Promise<void> {
  const history = createHistory(onEvent);
  let answers = 0;
  await Promise.all(
    Array.from({ length: clients }, async (_, index) => {
      const client = createClient({ history, random: random.fork(`client ${index}`), name: `c${index}` });
      while (answers++ < requests) await client.act(service);
    }),
  );
}

/** Asserts that the replay with nothing lost equals the real folder. Otherwise the recorder missed a change. */
export function assertComplete(recording: Recording, live: string, copy: string, random: Random): void {
  buildCrashState(recording, { at: recording.length, model: 'strict', survival: 1, tearing: false }, copy, random);
  try {
    execFileSync('diff', ['-r', '-q', '--exclude=*-shm', '--exclude=lock', live, copy], { encoding: 'utf8' });
  } catch (error) {
    throw new Error(`the recording does not explain the folder:\n${(error as { stdout?: string }).stdout}`);
  }
}
