import { execFile } from 'node:child_process';
import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { checkRuntime, runtimeManifest } from '../../packages/server/src/stores/search/embedding/onnx/onnx-embedder.ts';

const run = promisify(execFile);

/**
 * Installs what `npm run add-onnx` installs, once per clone, because the tests use the real runtime. Several test files
 * may do so at the same time: each installs into a separate folder, and the first one is kept.
 */
export async function installOnnxRuntime(): Promise<void> {
  const missing = await checkRuntime(runtimeManifest).then(
    () => false,
    () => true,
  );
  if (!missing) return;
  const home = dirname(runtimeManifest);
  const folder = await mkdtemp(resolve(home, 'node_modules.'));
  try {
    for (const name of ['package.json', 'package-lock.json', '.npmrc']) await cp(join(home, name), join(folder, name));
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
    await rename(join(folder, 'node_modules'), join(home, 'node_modules')).catch(async (error: unknown) => {
      // Another process was faster, or an older version is installed.
      if (
        await checkRuntime(runtimeManifest).then(
          () => true,
          () => false,
        )
      )
        return;
      await rm(join(home, 'node_modules'), { recursive: true, force: true });
      await rename(join(folder, 'node_modules'), join(home, 'node_modules')).catch(() => {
        throw error;
      });
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  await checkRuntime(runtimeManifest);
}
