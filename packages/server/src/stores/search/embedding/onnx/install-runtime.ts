import { execFile } from 'node:child_process';
import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { OperatorError } from '../../../../platform/server-process/operator-error.ts';
import { checkRuntime, runtimeManifest } from './onnx-embedder.ts';

const run = promisify(execFile);

const isInstalled = () =>
  checkRuntime(runtimeManifest).then(
    () => true,
    () => false,
  );

/**
 * Installs what `npm run add-onnx` installs, unless it is there. npm writes into a temporary folder, so an interrupted installation
 * leaves nothing, and of several at the same time the first one is kept.
 * @param onStart called before npm starts
 * @throws OperatorError that names the command for a person, or the reason of the aborted signal
 */
export async function installRuntime(onStart: () => void, signal?: AbortSignal): Promise<void> {
  if (await isInstalled()) return;
  const home = dirname(runtimeManifest);
  const target = join(home, 'node_modules');
  let folder: string | undefined;
  try {
    folder = await mkdtemp(join(home, 'node_modules.'));
    onStart();
    for (const name of ['package.json', 'package-lock.json', '.npmrc']) await cp(join(home, name), join(folder, name));
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
    await run('npm', args, { cwd: folder, ...(signal && { signal }) });
    const built = join(folder, 'node_modules');
    await rename(built, target).catch(async (error: unknown) => {
      if (await isInstalled()) return;
      // An older version is installed.
      await rm(target, { recursive: true, force: true });
      await rename(built, target).catch(() => {
        throw error;
      });
    });
  } catch (cause) {
    signal?.throwIfAborted();
    await checkRuntime(runtimeManifest); // its error names the command
    throw new OperatorError('The runtime for local models could not be installed.', { cause });
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
  await checkRuntime(runtimeManifest);
}
