import type { Logger } from '../../../platform/log/logger.ts';
import { chooseIsolation, findIsolation } from '../../../platform/processes/isolation/find-isolation.ts';
import { sandboxRemedy } from '../../../platform/processes/isolation/probe.ts';
import type { SpawnSettings } from '../../../platform/processes/isolation/spawn-isolated.ts';
import { readableFiles } from './spawn-reader.ts';

/**
 * Determines the isolation of extraction processes on this machine and logs it, with a warning where there is no
 * sandbox.
 */
export async function findReaderIsolation(logger: Logger): Promise<SpawnSettings> {
  const found = await findIsolation();
  const settings = await chooseIsolation(found, readableFiles());
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
