import { soak } from './soak.ts';
import type { Row } from './table.ts';

const [executions, warmRuns, watchedRuns] = [10_000, 5_000, 10_000];

/** Kills processes at random for some minutes. It runs only when it is named. */
export async function soakBench(folder: string): Promise<Row> {
  const result = await soak({ folder, executions, runsPerKill: 100, serviceKills: 10, warmRuns, watchedRuns });
  const { succeeded, failed, childrenKilled, zombies, orphans, growthMb } = result;
  const files = result.files.length + result.filesWithCredential.length;
  return {
    bench: `${executions} executions, the service 10 times killed, then ${warmRuns} and ${watchedRuns}; ${childrenKilled} processes of plugins killed`,
    ours: `${succeeded} succeeded, ${failed} failed; ${zombies} zombies, ${orphans} orphans, ${files} files; ${growthMb.toFixed(1)} MiB`,
    floor: '',
    bar: `nothing left, growth over the last ${watchedRuns} ≤ 16 MiB`,
    met: zombies + orphans + files === 0 && growthMb <= 16,
  };
}
