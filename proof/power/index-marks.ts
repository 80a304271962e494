import { createHash } from 'node:crypto';
import type { Texts } from '../../packages/server/src/storage/search-index/testing/changing-collection.suite.ts';
import type { ChangingStore } from '../../packages/server/src/storage/search-index/testing/changing-store.ts';
import type { Random } from '../support/random.ts';
import type { Cut } from './crash-state.ts';
import type { Mark, Recording } from './disk-model.ts';

/** What the recorded process changes. */
export interface IndexPlan {
  readonly store: ChangingStore;
  readonly seed: number;
}

/** What the recorded process does. */
export interface IndexMark {
  /** The kind of a message to a SQLite thread or to PostgreSQL, which is about to be sent. */
  readonly step?: string;
  /** The digest of the chunks of the kept collection after an acknowledged commit. */
  readonly committed?: string;
  /** The id of a collection whose deletion was acknowledged. */
  readonly deleted?: string;
}

export function writeIndexMark(mark: IndexMark): string {
  return JSON.stringify(mark);
}

function readIndexMark({ text }: Mark): IndexMark {
  return JSON.parse(text); // written by the function above
}

export function digestTexts(texts: Texts): string {
  const sorted = [...texts].sort(([a], [b]) => a - b);
  return createHash('sha256').update(JSON.stringify(sorted)).digest('base64');
}

/** Chooses a power cut between a step of this kind and the end of the commit that makes it durable. */
export function chooseStepCut({ marks, length }: Recording, kind: string, random: Random): Cut {
  const steps = marks.map((mark) => ({ at: mark.at, step: readIndexMark(mark).step }));
  const step = random.pick(steps.filter((one) => one.step === kind));
  if (step === undefined) throw new Error(`the recording has no step of the kind ${kind}`);
  const commit = steps.find((one) => one.at >= step.at && one.step === 'commit') ?? step;
  const end = marks.find(({ at }) => at > commit.at)?.at ?? length;
  return {
    at: step.at + 1 + random.below(end - step.at),
    model: random.chance(0.5) ? 'strict' : 'ordered',
    survival: random.pick([0, 0.2, 0.5, 0.8, 1]) ?? 0,
  };
}

/** What the machine may show after a power cut. */
export interface KnownAtCut {
  /** Digests of the chunks after the last acknowledged commit, and after the commit that was under way. */
  readonly digests: ReadonlyArray<string | undefined>;
  /** The collections whose deletion was acknowledged. */
  readonly deleted: readonly string[];
}

export function knownAtCut({ marks }: Recording, cutAt: number): KnownAtCut {
  const commits = marks.map((mark) => ({ at: mark.at, digest: readIndexMark(mark).committed }));
  const acknowledged = commits.filter(({ digest }) => digest !== undefined);
  const before = marks.filter(({ at }) => at < cutAt);
  return {
    digests: [
      acknowledged.findLast(({ at }) => at < cutAt)?.digest,
      acknowledged.find(({ at }) => at >= cutAt)?.digest,
    ],
    deleted: before.flatMap((mark) => readIndexMark(mark).deleted ?? []),
  };
}
