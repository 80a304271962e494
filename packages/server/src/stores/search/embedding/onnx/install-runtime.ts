import { execFile } from 'node:child_process';
import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { OperatorError } from '../../../../platform/server-process/operator-error.ts';
import { checkRuntime, runtimeManifest } from './onnx-embedder.ts';

const run = promisify(execFile);

export interface InstallOptions {
  readonly signal?: AbortSignal;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

const needed = ['path', 'home', 'tmpdir', 'http_proxy', 'https_proxy', 'no_proxy', 'node_extra_ca_certs'];

/** Removes the settings of the command or the service, which npm must not see. */
const withoutSecrets = (environment: NonNullable<InstallOptions['environment']>) =>
  Object.fromEntries(
    Object.entries(environment).filter(([name]) => {
      const lower = name.toLowerCase();
      return needed.includes(lower) || lower.startsWith('npm_config_');
    }),
  );

const isInstalled = () =>
  checkRuntime(runtimeManifest).then(
    () => true,
    () => false,
  );

/**
 * Installs what `npm run add-onnx` installs, unless it is there. npm writes into a temporary folder, so an interrupted installation
 * leaves nothing. If several run at the same time, the first result is kept.
 * npm gets its own settings and those of the network from the environment, and nothing else.
 * @param onStart called before npm starts
 * @throws OperatorError that names the command for a person, or the reason of the aborted signal
 */
export async function installRuntime(
  onStart: () => void,
  { signal, environment = {} }: InstallOptions = {},
): Promise<void> {
  if (await isInstalled()) return;
  const home = dirname(runtimeManifest);
  const target = join(home, 'node_modules');
  let folder: string | undefined;
  try {
    folder = await mkdtemp(join(home, 'node_modules.'));
    onStart();
    for (const name of ['package.json', 'package-lock.json', '.npmrc']) await cp(join(home, name), join(folder, name));
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
    await run('npm', args, { cwd: folder, env: withoutSecrets(environment), ...(signal && { signal }) });
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
