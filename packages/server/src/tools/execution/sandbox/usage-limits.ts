import { readProcessorMs, readResidentMb } from '../../../platform/processes/usage-watch.ts';
import type { SandboxLimits, SandboxOutcome } from './sandbox.ts';

export interface LimitedRun {
  readonly id: string;
  readonly limits: Pick<SandboxLimits, 'memoryMb' | 'cpuMs'>;
}

export interface UsageLimits {
  /**
   * The run that resource usage counts for: the one in progress, or the last one. Its processor time counts from the first check
   * that sees the run, so that beginning a run needs no measurement.
   */
  readonly run: () => LimitedRun | undefined;
  readonly onExceeded: (outcome: SandboxOutcome) => void;
}

/** @returns a check of a process; it returns true when the run exceeded a limit and `onExceeded` was called */
export function createUsageCheck({ run, onExceeded }: UsageLimits): (pid: number) => boolean {
  let first: { readonly run: string; readonly cpuMs: number } | undefined;
  return (pid) => {
    const current = run();
    if (current === undefined) return false;
    const cpuMs = readProcessorMs(pid) ?? 0;
    if (first?.run !== current.id) first = { run: current.id, cpuMs };
    const outcome = judge(current, readResidentMb(pid) ?? 0, cpuMs - first.cpuMs);
    if (outcome !== undefined) onExceeded(outcome);
    return outcome !== undefined;
  };
}

function judge({ limits }: LimitedRun, residentMb: number, usedMs: number): SandboxOutcome | undefined {
  if (residentMb > limits.memoryMb) return { kind: 'out_of_memory', limitMb: limits.memoryMb };
  if (usedMs > limits.cpuMs) return { kind: 'timed_out', limitMs: limits.cpuMs, of: 'processor' };
  return undefined;
}
