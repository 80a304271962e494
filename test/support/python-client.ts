import { join, resolve } from 'node:path';
import { buildPython, installPython } from '../../scripts/packages/build-python.ts';
import { type Ending, temporaryFolder } from './service.ts';

/** Builds the Python client and installs its wheel into an empty folder for PYTHONPATH. */
export async function installPythonClient(t: Ending) {
  const folder = await temporaryFolder(t);
  const built = await buildPython(resolve('.'), folder);
  const modules = join(folder, 'installed');
  await installPython([built.wheel], modules);
  return { ...built, modules };
}
