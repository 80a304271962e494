// Compares the installed packages with the lockfile. npm reports no error when another process changes its files
// meanwhile, or when an optional package cannot be fetched. This is plain JavaScript without packages, because it runs
// on the Node.js of the host.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the paths of packages that are missing, incomplete or of another version.
 * @param {string} folder the one with package-lock.json
 * @param {'run' | 'all'} group
 */
export function findDamagedPackages(folder, group) {
  const { packages = {} } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  return Object.entries(packages)
    .filter(([path, { dev }]) => path.includes('node_modules/') && (group === 'all' || dev !== true))
    .filter(([path, locked]) => !isInstalled(join(folder, path), path, locked))
    .map(([path]) => path);
}

function isInstalled(installed, path, { version, optional, link, bin = {} }) {
  if (!existsSync(installed)) return optional === true && !isNodeOfThisPlatform(path);
  if (link === true) return true;
  try {
    const found = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    return found.version === version && Object.values(bin).every((file) => existsSync(join(installed, file)));
  } catch {
    return false;
  }
}

/** npm omits optional packages of other platforms. The Node.js of this one must be there. */
function isNodeOfThisPlatform(path) {
  return path === `node_modules/node-${process.platform}-${process.arch}`;
}
