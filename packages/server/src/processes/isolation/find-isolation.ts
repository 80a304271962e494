import { onceRetried } from '../../kernel/concurrency/once-retried.ts';
import { type Probe, probeMachine, probeSandbox, type SandboxProbe } from './probe.ts';

/** The isolation that this machine offers to child processes, with and without a sandbox. */
export interface MachineIsolation {
  readonly machine: Probe;
  readonly sandbox: SandboxProbe;
}

/** Probes the isolation in child processes. The result is cached for the lifetime of this process. */
export const findIsolation: () => Promise<MachineIsolation> = onceRetried(async () => {
  const [machine, sandbox] = await Promise.all([probeMachine(), probeSandbox()]);
  return { machine, sandbox };
});
