// A process that changes a store, until it ends itself at a chosen message to a SQLite thread or to PostgreSQL. Without such
// a message it ends after its work, and prints how many messages of each kind it has sent. It also prints the collections
// that it has deleted.
import { writeSync } from 'node:fs';
import { type ChangingStore, changeStore } from './changing-store.ts';
import type { KillPoint } from './kill-points.ts';

interface Plan {
  readonly store: ChangingStore;
  readonly seed: number;
  readonly point: KillPoint | null;
}

const { store, seed, point }: Plan = JSON.parse(process.argv[2] ?? '');
const counts: Record<string, number> = {};
const kill = () => process.kill(process.pid, 'SIGKILL');
// A write to standard output through `console` may be lost with the process.
const print = (line: unknown) => writeSync(1, `${JSON.stringify(line)}\n`);

await changeStore(store, {
  seed,
  onStep(kind) {
    const nth = (counts[kind] ?? 0) + 1;
    counts[kind] = nth;
    if (point === null || point.kind !== kind || point.nth !== nth) return;
    if (point.delay === 0) kill();
    else setTimeout(kill, point.delay);
  },
  onDeletion: (deleted) => void print({ deleted }),
});
print({ counts });
