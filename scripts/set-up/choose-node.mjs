// Decides which Node.js runs the npm scripts: the pinned one, which npm installs as a package, or that of the host.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { refuse } from './refuse.mjs';

/** Returns the oldest major version that runs the service. */
function requiredVersion() {
  return Number(/\d+/.exec(JSON.parse(readFileSync('package.json', 'utf8')).engines.node)[0]);
}

/** Links `node` of the npm scripts to the pinned one; with `QUARTERMASTER_NODE=host`, to the one that runs npm. */
export function chooseNode(choice) {
  if (choice !== 'pinned' && choice !== 'host') refuse(`QUARTERMASTER_NODE is "${choice}"; use "pinned" or "host".`);
  const platform = `${process.platform}-${process.arch}`;
  const folder = `node-${platform}`;
  if (choice === 'host') return useHost('QUARTERMASTER_NODE=host', 'unset QUARTERMASTER_NODE');
  if (!existsSync(join('node_modules', folder))) {
    return useHost(`No Node.js is included for ${platform}`, 'use Linux or macOS on x64 or arm64');
  }
  checkPinned(join('node_modules', folder, 'bin/node'));
  point(`../${folder}/bin/node`);
}

function useHost(reason, otherwise) {
  const host = realpathSync(process.env.npm_node_execpath ?? process.execPath);
  const version = execFileSync(host, ['--version'], { encoding: 'utf8' }).trim();
  const required = requiredVersion();
  if (Number(/\d+/.exec(version)[0]) < required) {
    refuse(
      `${reason}: ${host} is ${version}; ${required} or later is required. Install a newer Node.js, or ${otherwise}.`,
    );
  }
  point(host);
}

/** Detects a binary that was replaced after the installation, when npm compared the package with the lockfile. */
function checkPinned(file) {
  const stamp = 'node_modules/.cache/node-checked';
  if (!existsSync(file)) refuse(`${file} is missing. Delete node_modules and start again.`);
  const { size, mtimeMs, ctimeMs, ino } = statSync(file);
  const facts = `${size} ${mtimeMs} ${ctimeMs} ${ino}`;
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === facts) return;
  const { sha256 } = JSON.parse(readFileSync('scripts/node-checksums.json', 'utf8'));
  const expected = sha256[`${process.platform}-${process.arch}`];
  const found = createHash('sha256').update(readFileSync(file)).digest('hex');
  if (found !== expected) {
    refuse(
      `${file} has the SHA-256 ${found}; scripts/node-checksums.json records ${expected}. Delete node_modules and start again.`,
    );
  }
  try {
    mkdirSync(dirname(stamp), { recursive: true });
    writeFileSync(stamp, facts);
  } catch {
    // A read-only installation is compared at each start.
  }
}

function point(target) {
  const link = 'node_modules/.bin/node';
  if (existsSync(link) && readlinkSync(link) === target) return;
  mkdirSync(dirname(link), { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(target, link);
}
