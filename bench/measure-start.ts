import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { loopDelay, residentMemory, startService } from './processes.ts';

const times = 5;
/** Milliseconds after which an idle service has finished the work that follows its start. */
const settleMs = 5_000;

/**
 * Measures the time from the command of `npm start` to both addresses on a new data folder, and the memory of the idle
 * service.
 */
export async function measureStart(folder: string) {
  const ready: number[] = [];
  const resident: number[] = [];
  let loopP99 = 0;
  for (let round = 0; round < times; round++) {
    const began = performance.now();
    const service = await startService(join(folder, String(round)), {});
    ready.push(performance.now() - began);
    try {
      await pause(settleMs);
      resident.push(residentMemory(service.pid));
      loopP99 = Math.max(loopP99, await loopDelay(service));
    } finally {
      await service.stop();
    }
  }
  return { readyMs: median(ready), idleMb: median(resident), loopP99, peakMb: Math.max(...resident) };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
