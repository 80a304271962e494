import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type StartedService, startService } from '../../test/support/service.ts';
import { checkStore } from '../power/check-crash-state.ts';
import type { PartOptions, PartReport } from '../report.ts';
import { createEndings } from '../support/endings.ts';
import { openUpstream } from '../support/upstream.ts';
import { checkHistory } from './check-history.ts';
import { createClient } from './client.ts';
import { createHistory, fateOf, type Operation } from './history.ts';

type Disturbance = 'kill -9' | 'SIGTERM' | 'SIGSTOP' | 'clock 3 hours ahead' | 'clock 3 hours behind';
const disturbances: readonly Disturbance[] = [
  ...(['kill -9', 'SIGSTOP', 'clock 3 hours ahead', 'kill -9', 'SIGTERM', 'clock 3 hours behind'] as const),
];

/** Disturbs one store repeatedly while clients use it. At the end, everything that they know must hold. */
export async function chaos(options: PartOptions): Promise<PartReport> {
  const random = options.random.fork('chaos');
  const endings = createEndings();
  const place = join(options.work, 'chaos');
  const folder = join(place, 'live');
  mkdirSync(folder, { recursive: true });
  const history = createHistory();
  const counts = new Map<Disturbance, number>();
  try {
    const upstream = await openUpstream(place);
    endings.after(upstream.close);
    const start = (clock = '') =>
      startService(endings, {
        folder,
        settings: upstream.settings,
        launcher: clock === '' ? [] : clockLauncher(clock),
      });
    const clients = Array.from({ length: 6 }, (_, index) =>
      createClient({ history, random: random.fork(`client ${index}`), name: `c${index}` }),
    );
    let service = await start();
    const rounds = options.slice ? disturbances.length : 60;
    for (let round = 0; round < rounds; round++) {
      const disturbance = disturbances[round % disturbances.length] ?? 'kill -9';
      counts.set(disturbance, (counts.get(disturbance) ?? 0) + 1);
      let isOver = false;
      const use = Promise.all(
        clients.map(async (client) => {
          while (!isOver) {
            const { answer } = await client.act(service);
            if (answer === undefined) await pause(200);
          }
        }),
      );
      await untilAnswered(history, 40);
      service = await disturb(disturbance, service, start);
      await untilAnswered(history, 40);
      isOver = true;
      await use;
      options.log(`chaos: ${round + 1} of ${rounds} rounds, ${history.operations.length} requests`);
    }
    await service.kill();
    service = await start();
    const { findings } = options;
    await checkHistory({
      ...{ target: service, operations: history.operations, findings, random, contents: 200 },
      upstreamCalls: upstream.count,
    });
    const code = await service.stop();
    if (code !== 0) findings.add('unavailable', `the service ended with ${code}: ${service.log().slice(-500)}`);
    await checkStore(folder, {}, findings);
  } finally {
    await endings.end();
  }
  return {
    name: 'History under kills, pauses and clock steps',
    cases: [...counts.values()].reduce((sum, count) => sum + count, 0),
    figures: { ...Object.fromEntries(counts), ...countFates(history.operations) },
  };
}

/** Counts the requests of clients by what is known of their outcome. */
export function countFates(operations: readonly Operation[]): Readonly<Record<string, number>> {
  const fates = Map.groupBy(operations, fateOf);
  return {
    requests: operations.length,
    acknowledged: fates.get('done')?.length ?? 0,
    'without an answer or 5xx': fates.get('unknown')?.length ?? 0,
  };
}

/** Waits until the clients have received `count` more responses. */
async function untilAnswered(history: ReturnType<typeof createHistory>, count: number): Promise<void> {
  const answered = () => history.operations.filter(({ answer }) => answer !== undefined).length;
  const goal = answered() + count;
  for (const latest = performance.now() + 60_000; answered() < goal && performance.now() < latest; ) await pause(10);
}

type Start = (clock?: string) => Promise<StartedService>;

/** Disturbs the service. Returns the service that runs afterwards. */
async function disturb(disturbance: Disturbance, service: StartedService, start: Start): Promise<StartedService> {
  if (disturbance === 'SIGSTOP') {
    service.process.kill('SIGSTOP');
    await pause(2_000);
    service.process.kill('SIGCONT');
    return service;
  }
  if (disturbance === 'SIGTERM') await service.stop();
  else await service.kill();
  if (disturbance === 'clock 3 hours ahead') return await start('+3h');
  if (disturbance === 'clock 3 hours behind') return await start('-3h');
  return await start();
}

/** Returns a launcher that moves the clock of a program. Timers and the times of files stay as they are. */
export function clockLauncher(offset: string): string[] {
  return movedClock(`FAKETIME=${offset}`);
}

/** Returns a launcher that moves the clock by the offset in a file, which the program reads again each second. */
export function steppedClockLauncher(file: string): string[] {
  return movedClock(`FAKETIME_TIMESTAMP_FILE=${file}`, 'FAKETIME_CACHE_DURATION=1');
}

function movedClock(...variables: readonly string[]): string[] {
  const folder = readdirSync('/usr/lib').find((name) => name.endsWith('-linux-gnu')) ?? '';
  return [
    ...['/usr/bin/env', `LD_PRELOAD=/usr/lib/${folder}/faketime/libfaketime.so.1`, ...variables],
    ...['FAKETIME_DONT_FAKE_MONOTONIC=1', 'FAKETIME_NO_CACHE=0', 'NO_FAKE_STAT=1'],
  ];
}
