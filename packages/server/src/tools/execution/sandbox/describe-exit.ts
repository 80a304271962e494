import type { ProcessExit } from '../../../platform/processes/supervised-process.ts';
import type { SandboxOutcome } from './sandbox.ts';

/** The outcome of a run whose process exited by itself. */
export function describeExit(exit: ProcessExit, memoryMb: number): SandboxOutcome {
  const { code, signal, printed } = exit;
  // Bubblewrap reports a signal as its number above 128.
  const isKilled = signal !== null || (code ?? 0) > 128;
  // V8 prints this before it aborts at its heap limit. A plugin that prints it mislabels only its own run.
  if (exit.hasRunOutOfMemory || (isKilled && printed.includes('heap out of memory'))) {
    return { kind: 'out_of_memory', limitMb: memoryMb };
  }
  return { kind: 'crashed', message: `The plugin's process ended (${signal ?? `exit code ${code}`}).` };
}
