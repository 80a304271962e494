import { execFile } from 'node:child_process';
import { cp, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const python = '/usr/bin/python3';
const env = { PATH: '/usr/bin:/bin', SOURCE_DATE_EPOCH: '1700000000', PIP_DISABLE_PIP_VERSION_CHECK: '1' };
const offline = ['--no-index', '--no-build-isolation', '--no-deps', '--quiet'];

/**
 * Builds the Python client outside of the repository, without a network: the wheel from the source archive.
 * @returns the paths of the wheel, of the source archive and of the copied project
 */
export async function buildPython(root: string, folder: string) {
  const project = join(folder, 'clone/clients/python');
  const out = join(folder, 'out');
  await mkdir(out, { recursive: true });
  const isSource = (path: string) =>
    !/\/(?:__pycache__|\.mypy_cache|build|_sync|_operations\.py|types\.py|[^/]+\.egg-info)(?:\/|$)/.test(path);
  await cp(join(root, 'clients/python'), project, { recursive: true, filter: isSource });
  for (const name of ['files', 'plugins']) {
    const document = `docs/reference/openapi-${name}.json`;
    await cp(join(root, document), join(folder, 'clone', document));
  }
  const build = 'import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])';
  await run(python, ['-c', build, out], { cwd: project, env });
  const source = await findFile(out, '.tar.gz');
  return { wheel: await buildWheel(source, out), source, project };
}

/** Builds the wheel of a project or of its source archive. @returns the path of the wheel */
export async function buildWheel(project: string, out: string): Promise<string> {
  await run(python, ['-m', 'pip', 'wheel', ...offline, '--wheel-dir', out, project], { env });
  return findFile(out, '.whl');
}

/** Installs a wheel, or the option `--editable` with a project, into a folder for PYTHONPATH. */
export async function installPython(what: readonly string[], target: string): Promise<void> {
  await run(python, ['-m', 'pip', 'install', ...offline, '--no-compile', '--target', target, ...what], { env });
}

async function findFile(folder: string, ending: string): Promise<string> {
  return join(folder, (await readdir(folder)).find((name) => name.endsWith(ending)) ?? ending);
}
