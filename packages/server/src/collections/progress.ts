import type { RecordStage } from '@quartermaster/contract';
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Held, RecordJobRepository } from './record-job-repository.ts';

export interface ProgressDeps {
  readonly jobs: Pick<RecordJobRepository, 'report'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly leaseMs: number;
  readonly onChanged: (recordId: string) => void;
  /** Milliseconds that the record was worked on. */
  readonly workedMs: () => number;
}

export interface Progress {
  readonly report: (stage: RecordStage, percent: number) => void;
  /** Proves the claim now. */
  readonly beat: () => void;
  readonly close: () => Promise<void>;
}

/** At most two writes a second for one record. */
const leastMsBetween = 500;

/** Writes down how far a record is, and keeps its lease alive three times as often as needed. */
export function createProgress(deps: ProgressDeps, held: Held, onLost: () => void): Progress {
  const { jobs, clock, logger, leaseMs, workedMs } = deps;
  let current: { stage: RecordStage; percent: number } = { stage: 'queued', percent: 0 };
  let writing = Promise.resolve();
  let waiting: NodeJS.Timeout | undefined;
  let lastWrite = 0;
  let closed = false;

  function beat(): void {
    clearTimeout(waiting);
    waiting = undefined;
    lastWrite = clock.now();
    writing = writing.then(write);
  }

  async function write(): Promise<void> {
    if (closed) return;
    try {
      const kept = await jobs.report(held, {
        ...current,
        leaseUntil: clock.now() + leaseMs,
        workedMs: workedMs(),
      });
      if (kept) deps.onChanged(held.id);
      else onLost();
    } catch (error) {
      // The lease outlives two failed beats; when it runs out, somebody else takes the record up.
      logger.warn({ err: error, record_id: held.id }, 'progress could not be written');
    }
  }

  const heart = setInterval(beat, leaseMs / 3);
  return {
    report(stage, percent) {
      const whole = Math.min(100, Math.max(0, Math.round(percent)));
      if (stage === current.stage && whole === current.percent) return;
      current = { stage, percent: whole };
      // Bounded on both sides: the clock may have been set.
      const wait = Math.min(leastMsBetween, Math.max(0, lastWrite + leastMsBetween - clock.now()));
      waiting ??= setTimeout(beat, wait);
    },
    beat,
    async close() {
      closed = true;
      clearInterval(heart);
      clearTimeout(waiting);
      await writing;
    },
  };
}
