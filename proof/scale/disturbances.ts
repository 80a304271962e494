import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { faultsOf, type S3Server } from '../../packages/server/src/storage/s3/testing/s3-server.fixture.ts';
import type { Direction } from '../../test/support/tcp-proxy.ts';
import type { Findings } from '../history/findings.ts';
import type { Random } from '../support/random.ts';
import type { Peer } from './network.ts';
import type { Rig, RigNode } from './rig.ts';

export type Disturbance =
  | 'kill -9'
  | 'SIGTERM'
  | 'pause'
  | 'partition'
  | 'one-way partition'
  | 'clock step'
  | 'fail-over'
  | 'slow storage'
  | 'storage down'
  | 'lying storage';

/** Happen to one node, one after another. */
const ofNodes: readonly Disturbance[] = [
  ...(['kill -9', 'partition', 'pause', 'one-way partition', 'kill -9', 'clock step', 'SIGTERM'] as const),
  ...(['one-way partition', 'partition'] as const),
];
/** Happen to all nodes at once, beside the others. */
const ofPeers: readonly Disturbance[] = ['fail-over', 'lying storage', 'storage down', 'slow storage'];
const clockOffsets = ['+60', '-60'];

export interface DisturbOptions {
  readonly rig: Rig;
  readonly storage: S3Server;
  readonly random: Random;
  readonly findings: Findings;
  readonly seconds: number;
  /** The file with the offset of the clock of a node. */
  readonly clockFile: (node: RigNode) => string;
  log(text: string): void;
}

/** Disturbs nodes, database and storage for some seconds. Afterwards nothing is disturbed. Returns how often each happened. */
export async function disturb(options: DisturbOptions): Promise<ReadonlyMap<Disturbance, number>> {
  const counts = new Map<Disturbance, number>();
  let latest = performance.now() + options.seconds * 1000;
  const series = async (kinds: readonly Disturbance[], name: string, gap: number) => {
    const random = options.random.fork(name);
    for (let deck: Disturbance[] = []; performance.now() < latest; await pause(gap + random.below(gap))) {
      if (deck.length === 0) deck = random.shuffle(kinds);
      const kind = deck.pop() ?? 'kill -9';
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      options.log(`nodes: ${kind}`);
      await apply(kind, { ...options, random });
    }
  };
  const ends = await Promise.allSettled(
    [series(ofNodes, 'nodes', 600), series(ofPeers, 'peers', 2_500)].map((one) =>
      one.catch((error) => {
        latest = 0;
        throw error;
      }),
    ),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return counts;
}

async function apply(kind: Disturbance, options: DisturbOptions): Promise<void> {
  const { rig, storage, random, clockFile } = options;
  const node = random.pick(rig.nodes) ?? rig.nodes[0]!; // a rig has nodes
  const lasts = 2_000 + random.below(6_000);
  switch (kind) {
    case 'kill -9':
      await node.service().kill();
      await pause(random.below(3_000));
      break;
    case 'SIGTERM':
      await node.service().stop();
      break;
    case 'pause':
      node.service().process.kill('SIGSTOP');
      // Longer than the time after which other nodes take over the runs of this one.
      await pause(random.chance(0.5) ? lasts : 18_000);
      node.service().process.kill('SIGCONT');
      break;
    case 'partition':
    case 'one-way partition': {
      const oneWay = random.pick<Direction>(['requests', 'answers']) ?? 'requests';
      await node.partition(
        random.pick<Peer>(['database', 'storage']) ?? 'database',
        kind === 'partition' ? 'both' : oneWay,
      );
      await pause(lasts);
      await node.mend();
      break;
    }
    case 'clock step':
      writeFileSync(clockFile(node), `${random.pick(clockOffsets)}\n`);
      await pause(lasts);
      writeFileSync(clockFile(node), '+0\n');
      break;
    case 'fail-over':
      await rig.database.failOver();
      return;
    case 'slow storage':
      for (const { lines } of rig.nodes) lines.storage.delay(400);
      await pause(lasts);
      for (const { lines } of rig.nodes) lines.storage.delay(0);
      return;
    default:
      storage.choose = chooseFault(kind, random);
      await pause(lasts);
      storage.choose = () => undefined;
      return;
  }
  await ensureRuns(node, options.findings.after(kind));
}

/** Returns the fault of a request: none for most of them while the storage lies, and a lie that its kind of request can meet. */
function chooseFault(kind: Disturbance, random: Random): S3Server['choose'] {
  if (kind === 'storage down') return () => 'cut';
  return (request) => (random.chance(0.3) ? random.pick(faultsOf(request)) : undefined);
}

const startsWithin = 60_000;

/** Starts a node again after it ended, as a supervisor does. Its database or storage may be down meanwhile. */
export async function ensureRuns(node: RigNode, findings: Findings): Promise<void> {
  const { process: ended, log } = node.service();
  if (ended.exitCode === null && ended.signalCode === null) return;
  // 75: another process replaced it while it was paused or cut off.
  if (ended.exitCode !== null && ended.exitCode !== 0 && ended.exitCode !== 75) {
    const reason = log()
      .split('\n')
      .findLast((line) => line.includes('"level":"fatal"'));
    findings.add('unavailable', `${node.name} ended with ${ended.exitCode}: ${reason?.slice(0, 1_500)}`);
  }
  for (const latest = performance.now() + startsWithin; ; ) {
    const failed = await node.start().then(
      () => undefined,
      (error: Error) => error,
    );
    if (failed === undefined) return;
    if (performance.now() > latest) return findings.add('unavailable', `${node.name}: ${failed.message.slice(-700)}`);
  }
}
