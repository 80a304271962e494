import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';

/** The script that runs before the npm scripts. */
export const setUpScript = resolve('scripts/set-up.mjs');
export const cacheModule = 'packages/server/src/tools/catalogue/load/manifest-cache.ts';

/** Creates an installation with installed dependencies. Its script `warm-up.ts` writes a character to `starts`. */
export async function createInstallation(folder: string, warmUp = "require('node:fs').appendFileSync('starts', '.')") {
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  const lock = createHash('sha256').update('{}').digest('hex');
  write('package-lock.json', '{}');
  write('packages/console/package-lock.json', '{}');
  write('node_modules/.installed-from', `${lock} all`);
  write('packages/console/node_modules/.installed-from', lock);
  write('scripts/biome/package-lock.json', '{}');
  write('scripts/biome/node_modules/.installed-from', lock);
  write('package.json', JSON.stringify({ engines: { node: '>=24' } }));
  write('scripts/warm-up.ts', warmUp);
  write('packages/server/package.json', '{"version":"1.0.0"}');
  write(cacheModule, 'const cacheVersion = 1;');
  write('bundles/sums/bundle.yaml', 'id: sums');
  write('scripts/build-console.mjs', '');
  write('scripts/bundle-service.ts', '');
  write('scripts/hash-list.ts', '');
  write('scripts/client-types.ts', '');
  write('starts', '');
  /** Runs the set-up. Returns the number of times that the caches have been written so far. */
  const setUp = () => {
    execFileSync(process.execPath, [setUpScript, 'test'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      // The Node.js that runs npm may be too old for the service.
      env: { ...process.env, npm_node_execpath: process.execPath },
    });
    return readFileSync(join(folder, 'starts')).length;
  };
  return { write, setUp };
}

/** Creates an empty clone, and an npm that writes its arguments to `calls`, runs `on-install` and exits with the number in `npm-exit`. */
export async function createClone(folder: string) {
  const { write } = await createInstallation(folder);
  const headers = `node_modules/node-${process.platform}-${process.arch}/include/node.h`;
  rmSync(join(folder, 'node_modules'), { recursive: true });
  for (const part of ['packages/console', 'scripts/biome']) {
    rmSync(join(folder, part, 'node_modules'), { recursive: true });
  }
  write('calls', '');
  write('npm-exit', '0');
  write('on-install', '');
  write(
    'bin/npm',
    `#!/bin/sh
echo "$*" >> calls
case "$*" in
  *--prefix=*) mkdir -p "$(expr "$*" : '.*--prefix=\\([^ ]*\\)')/node_modules" ;;
  *) mkdir -p ${dirname(headers)} && touch ${headers} && sh on-install ;;
esac
exit $(cat npm-exit)
`,
  );
  chmodSync(join(folder, 'bin/npm'), 0o755);
  write(
    'scripts/build-console.mjs',
    "import { installConsolePackages } from './set-up/install-packages.mjs';\nawait installConsolePackages();\n",
  );
  symlinkSync(resolve('scripts/set-up'), join(folder, 'scripts/set-up'));
  /** Runs the set-up. Returns the arguments of each installation, and how the set-up ended. */
  const setUp = (group: string) => {
    write('calls', '');
    const env = { PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}`, QUARTERMASTER_NODE: 'host' };
    const { status, stderr } = spawnSync(process.execPath, [setUpScript, group], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    const calls = readFileSync(join(folder, 'calls'), 'utf8')
      .split('\n')
      .map((line) => line.split(' --ignore-scripts')[0] ?? '');
    return { status, stderr, calls: calls.filter((call) => /^(ci|install)/.test(call)) };
  };
  const exists = (path: string) => existsSync(join(folder, path));
  return { write, setUp, exists, headers };
}
