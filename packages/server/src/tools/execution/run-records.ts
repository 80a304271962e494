import type { Logger } from '../../platform/log/logger.ts';
import { Counter, Histogram, type Registry } from '../../platform/metrics.ts';
import type { Execution } from './outcome.ts';

/** Writes the metrics and the log line of a run, without inputs, outputs and credentials. */
export interface RunRecords {
  /** Records one run. `pluginId` is `verify` for a check of credentials and `options` for the values of an input. */
  record(bundleId: string, pluginId: string, execution: Execution): void;
}

export function createRunRecords(logger: Logger, metrics: Registry): RunRecords {
  const executions = new Counter({
    name: 'quartermaster_executions_total',
    help: 'Plugin runs by outcome.',
    labelNames: ['bundle', 'plugin', 'outcome'] as const,
    registers: [metrics],
  });
  const seconds = new Histogram({
    name: 'quartermaster_execution_seconds',
    help: 'Duration of runs in seconds, including upstream calls.',
    labelNames: ['bundle', 'plugin'] as const,
    buckets: [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [metrics],
  });
  const violations = new Counter({
    name: 'quartermaster_output_violations_total',
    help: 'Runs whose output violated its schema, usually because the upstream changed.',
    labelNames: ['bundle', 'plugin'] as const,
    registers: [metrics],
  });

  return {
    record(bundle, plugin, { runId, durationMs, outcome }) {
      executions.inc({ bundle, plugin, outcome: outcome.kind });
      seconds.observe({ bundle, plugin }, durationMs / 1000);
      const broken = outcome.kind === 'succeeded' ? outcome.violations.length : 0;
      if (broken > 0) violations.inc({ bundle, plugin });
      logger.info(
        {
          run_id: runId,
          bundle,
          plugin,
          outcome: outcome.kind,
          duration_ms: durationMs,
          ...('upstreamStatus' in outcome && { upstream_status: outcome.upstreamStatus }),
          ...(broken > 0 && { output_violations: broken }),
        },
        'run ended',
      );
    },
  };
}
