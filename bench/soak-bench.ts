import { soak } from './soak.ts';
import type { Row } from './table.ts';

const executions = 10_000;

/** Some minutes of random kills: only when it is asked for by name. */
export async function soakBench(folder: string): Promise<Row> {
  const left = await soak({ folder, executions, runsPerKill: 100, serviceKills: 10 });
  const { succeeded, failed, childrenKilled, zombies, orphans, growthMb } = left;
  const files = left.files.length + left.filesWithCredential.length;
  return {
    bench: `${executions} executions, ${childrenKilled} processes of plugins and the service 10 times killed`,
    ours: `${succeeded} succeeded, ${failed} failed; ${zombies} zombies, ${orphans} orphans, ${files} files; ${growthMb.toFixed(1)} MiB`,
    floor: '',
    bar: 'nothing left, growth ≤ 16 MiB',
    met: zombies + orphans + files === 0 && growthMb <= 16,
  };
}
