import { type RecordStage, type RecordStatus, recordStatuses } from '@quartermaster/contract';
import { Counter, Gauge, Histogram, type Registry } from '../kernel/metrics.ts';

/** What the work on records counts. */
export interface RecordMetrics {
  /** Follows one try through its stages. */
  follow(): StageWatch;
  chunksWritten(count: number): void;
  /** Removing a deleted record or collection failed; it is tried again. */
  sweepFailed(): void;
}

export interface StageWatch {
  /** The work is in this stage from now on, or still. */
  at(stage: RecordStage): void;
  end(): void;
}

export interface RecordMetricsDeps {
  readonly registry: Registry;
  /** Of all projects, by status; asked when somebody reads the metrics. */
  readonly countRecords: () => Promise<ReadonlyMap<RecordStatus, number>>;
}

/** Upper bounds in seconds: from a note to a sheet of a million rows. */
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
  return {
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
