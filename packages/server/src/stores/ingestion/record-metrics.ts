import { type RecordStage, type RecordStatus, recordStatuses } from '@quartermaster/contract';
import { Counter, Gauge, Histogram, type Registry } from '../../platform/metrics.ts';
import type { EvaluationOutcome } from '../collections/evaluations/evaluations.ts';

/** Metrics of record ingestion. */
export interface RecordMetrics {
  /** Starts measuring the stages of one attempt. */
  follow(): StageWatch;
  chunksWritten(count: number): void;
  /** Counts a record whose chunks were to be replaced for new settings of its collection. */
  rechunked(outcome: RechunkOutcome): void;
  /** Counts an evaluation of a collection. */
  evaluated(outcome: EvaluationOutcome): void;
  /** Counts a failed removal of a deleted record or collection. The removal is retried. */
  sweepFailed(): void;
}

/** `unchanged`: the new chunks were equal. `kept`: a request changed a chunk, or the source could not be read. */
export type RechunkOutcome = 'replaced' | 'unchanged' | 'kept';

export interface StageWatch {
  /** Reports the current stage. Repeated calls with the same stage are allowed. */
  at(stage: RecordStage): void;
  end(): void;
}

export interface RecordMetricsDeps {
  readonly registry: Registry;
  /** Counts the records of all projects by status. Called when the metrics are read. */
  readonly countRecords: () => Promise<ReadonlyMap<RecordStatus, number>>;
}

/** Upper bounds in seconds, from a short note to a sheet of a million rows. */
const bounds = [0.01, 0.05, 0.25, 1, 5, 30, 120, 600];

export function createRecordMetrics({ registry, countRecords }: RecordMetricsDeps): RecordMetrics {
  new Gauge({
    name: 'quartermaster_records',
    help: 'Records by status.',
    labelNames: ['status'],
    registers: [registry],
    async collect() {
      const counts = await countRecords();
      for (const status of recordStatuses) this.set({ status }, counts.get(status) ?? 0);
    },
  });
  const seconds = new Histogram({
    name: 'quartermaster_record_stage_seconds',
    help: 'Seconds that an attempt to process a record spent in a stage.',
    labelNames: ['stage'],
    buckets: bounds,
    registers: [registry],
  });
  const chunks = new Counter({
    name: 'quartermaster_chunks_written_total',
    help: 'Chunks written while records were processed, including failed attempts.',
    registers: [registry],
  });
  const failedSweeps = new Counter({
    name: 'quartermaster_sweeps_failed_total',
    help: 'Failed attempts to remove a deleted record or collection. They are retried.',
    registers: [registry],
  });
  const rechunked = new Counter({
    name: 'quartermaster_rechunked_records_total',
    help: 'Records that were split again for new settings of their collection, by outcome.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const evaluated = new Counter({
    name: 'quartermaster_evaluations_total',
    help: 'Evaluations of collections with a sheet of questions, by outcome.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  return {
    evaluated: (outcome) => evaluated.inc({ outcome }),
    rechunked: (outcome) => rechunked.inc({ outcome }),
    sweepFailed: () => failedSweeps.inc(),
    follow() {
      let current: { readonly stage: RecordStage; readonly since: number } | undefined;
      const end = () => {
        if (current !== undefined)
          seconds.observe({ stage: current.stage }, (performance.now() - current.since) / 1000);
        current = undefined;
      };
      return {
        at(stage) {
          if (stage === current?.stage) return;
          end();
          current = { stage, since: performance.now() };
        },
        end,
      };
    },
    chunksWritten: (count) => chunks.inc(count),
  };
}
