import { type Operation, type OperationName, operations, type Victim } from './operations.ts';

/** The measurements of one operation. */
export interface Samples {
  readonly times: number[];
  /** The reasons of the failures. */
  readonly failures: string[];
}

export interface MeasureOptions {
  readonly names: readonly OperationName[];
  readonly victims: readonly Victim[];
  readonly rounds: number;
  /** Milliseconds after which an operation is not repeated if its result is already certain. */
  readonly longEnough: number;
  /** The end of the measurement, on the clock of `performance.now()`. */
  readonly end: number;
  /** The time above which a sample is too slow. Default: none. */
  readonly limitOf?: (name: OperationName) => number;
}

/** Runs the operations of the victims in turn, one at a time. Returns the samples of each victim and operation. */
export async function measure(options: MeasureOptions): Promise<(victim: Victim, name: OperationName) => Samples> {
  const { names, victims, rounds, longEnough, end, limitOf = () => Number.POSITIVE_INFINITY } = options;
  const samples = new Map<string, Samples>();
  const samplesOf = (victim: Victim, name: OperationName) => {
    const key = `${victim.name} ${name}`;
    const found = samples.get(key) ?? { times: [], failures: [] };
    samples.set(key, found);
    return found;
  };
  for (let round = 0; round < rounds; round++) {
    for (const victim of victims) {
      for (const name of names) {
        const found = samplesOf(victim, name);
        if (performance.now() > end && found.times.length > 0) continue;
        if (isDecided(found, rounds, limitOf(name)) && sum(found.times) > longEnough) continue;
        await sample(operations[name], victim, round, found);
      }
    }
  }
  return samplesOf;
}

/** Returns whether the slow samples already make the percentile of all rounds exceed the limit. */
function isDecided({ times }: Samples, rounds: number, limit: number): boolean {
  return times.filter((time) => time > limit).length > rounds - rankOf(rounds);
}

async function sample(operation: Operation, victim: Victim, round: number, { times, failures }: Samples) {
  const begun = performance.now();
  const failure = await operation.run(victim, round).catch((error: unknown) => String(error).slice(0, 160));
  times.push(performance.now() - begun);
  if (failure !== undefined) failures.push(failure);
}

/** The nearest rank of the 95th percentile. Below 20 times, the largest one is ignored, because a single slow time is often noise. */
function rankOf(count: number): number {
  return count < 5 ? count : Math.min(Math.ceil(0.95 * count), count - 1);
}

export function percentile95(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[rankOf(times.length) - 1] ?? Number.NaN;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
