import type { Logger } from '../../kernel/log/logger.ts';
import { findIsolation, type MachineIsolation } from '../../processes/isolation/find-isolation.ts';
import { isReadableByAll, sandboxRemedy } from '../../processes/isolation/probe.ts';
import type { SpawnSettings } from '../../processes/isolation/spawn-isolated.ts';
import { readableFiles } from './spawn-reader.ts';

/**
 * Determines the isolation of extraction processes on this machine and logs it, with a warning where there is no
 * sandbox.
 */
export async function findReaderIsolation(logger: Logger): Promise<SpawnSettings> {
  const found = await findIsolation();
  const settings = await chooseIsolation(found);
  const { permissions, networkDenied } = found.machine.capabilities;
  const facts = {
    tier: settings.isSandboxed ? 'sandbox' : 'process',
    separate_user: settings.user !== undefined,
    permissions,
    network_denied: settings.isSandboxed || networkDenied,
    no_new_privileges: settings.isSandboxed || settings.hasUtilLinux,
  };
  if (found.sandbox.settings !== undefined) logger.info(facts, 'document reader isolation selected');
  else {
    const { missing, detail } = found.sandbox;
    logger.warn({ ...facts, missing, detail, remedy: sandboxRemedy }, 'document readers started without a sandbox');
  }
  return settings;
}

/** Chooses a sandbox where available, otherwise a separate user if that user may read the program. */
export async function chooseIsolation({ machine, sandbox }: MachineIsolation): Promise<SpawnSettings> {
  const settings = sandbox.settings ?? machine.settings;
  if (settings.user === undefined) return settings;
  const isReadable = await Promise.all(readableFiles().map(isReadableByAll));
  return isReadable.every(Boolean) ? settings : { ...settings, user: undefined };
}
