import { onceRetried } from '../../kernel/concurrency/once-retried.ts';
import { type Probe, probeMachine, probeSandbox, type SandboxProbe } from './probe.ts';

/** What this machine gives to child processes: without a sandbox, and within one. */
export interface MachineIsolation {
  readonly machine: Probe;
  readonly sandbox: SandboxProbe;
}

/** Tries it in child processes, once while this process lives. */
export const findIsolation: () => Promise<MachineIsolation> = onceRetried(async () => {
  const [machine, sandbox] = await Promise.all([probeMachine(), probeSandbox()]);
  return { machine, sandbox };
});
