import { execFile } from 'node:child_process';
import { cp, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Builds the Python client outside of the repository, without a network. @returns the paths of the wheel and of the source archive */
export async function buildPython(root: string, folder: string): Promise<{ wheel: string; source: string }> {
  const project = join(folder, 'project');
  const out = join(folder, 'out');
  await mkdir(out, { recursive: true });
  const isSource = (path: string) => !/\/(?:__pycache__|\.mypy_cache|build|[^/]+\.egg-info)(?:\/|$)/.test(path);
  await cp(join(root, 'clients/python'), project, { recursive: true, filter: isSource });
  const env = { PATH: '/usr/bin:/bin', SOURCE_DATE_EPOCH: '1700000000', PIP_DISABLE_PIP_VERSION_CHECK: '1' };
  const build = 'import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])';
  await run('/usr/bin/python3', ['-c', build, out], { cwd: project, env });
  const wheel = ['-m', 'pip', 'wheel', '--no-index', '--no-build-isolation', '--no-deps', '--quiet'];
  await run('/usr/bin/python3', [...wheel, '--wheel-dir', out, project], { env });
  const names = await readdir(out);
  const find = (ending: string) => join(out, names.find((name) => name.endsWith(ending)) ?? ending);
  return { wheel: find('.whl'), source: find('.tar.gz') };
}
