import { onceRetried } from '../../concurrency/once.ts';
import { isReadableByAll, type Probe, probeMachine, probeSandbox, type SandboxProbe } from './probe.ts';
import type { SpawnSettings } from './spawn-isolated.ts';

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

/**
 * Chooses a sandbox where available, otherwise a separate user if that user may read the program.
 * @param files what the program reads
 */
export async function chooseIsolation(
  { machine, sandbox }: MachineIsolation,
  files: readonly string[],
): Promise<SpawnSettings> {
  const settings = sandbox.settings ?? machine.settings;
  if (settings.user === undefined) return settings;
  const isReadable = await Promise.all(files.map(isReadableByAll));
  return isReadable.every(Boolean) ? settings : { ...settings, user: undefined };
}
