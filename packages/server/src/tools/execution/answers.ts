import type { ExecuteResult } from '@quartermaster/contract';
import type { Execution } from './outcome.ts';

/** Builds the response of a run that succeeded. */
export function resultOf({ outcome, runId, durationMs }: Execution): ExecuteResult {
  const {
    output,
    violations,
    artifacts = [],
    contents = [],
  } = outcome.kind === 'succeeded' ? outcome : { output: null, violations: [], artifacts: [], contents: [] };
  return {
    status: 200,
    data: output,
    run_id: runId,
    duration_ms: durationMs,
    ...(violations.length === 0 ? {} : { output_violations: [...violations] }),
    ...(artifacts.length === 0 ? {} : { artifacts: [...artifacts] }),
    ...(contents.length === 0 ? {} : { contents: [...contents] }),
  };
}
