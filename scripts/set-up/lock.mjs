// One set-up at a time works on a folder. This is plain JavaScript without packages, because it runs on the Node.js of
// the host before anything is installed.
//
// The lock is the file `.set-up/lock-N` with the highest number N. It names the processes of the set-up that created
// it, and it is held while one of them lives, so a killed set-up holds no lock. The next set-up creates N + 1, which
// fails if another one was faster. The highest file is never deleted; therefore two cannot hold the lock.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';

const folder = '.set-up';
const waitMs = 200;
/** Names the lock file for the processes that the set-up starts. */
const variable = 'SET_UP_LOCK';

/** Waits until no other set-up works on the current folder. The lock ends with this process and with those it recorded. */
export function lockSetUp() {
  let isWaiting = false;
  for (;;) {
    const newest = newestNumber();
    const holder = holderOf(newest);
    if (holder === undefined) {
      const path = tryToCreate(newest + 1);
      if (path === undefined) continue;
      if (path !== null) process.env[variable] = path;
      return;
    }
    if (!isWaiting) {
      console.error(
        `quartermaster: another set-up of this folder is running (process ${holder}); waiting until it ends`,
      );
    }
    isWaiting = true;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs);
  }
}

/** Adds a process to the lock. It may outlive a set-up that is killed, and it changes the same files. */
export function addToLock(pid) {
  const path = process.env[variable];
  if (path !== undefined && pid !== undefined) appendFileSync(path, describe(pid));
}

/** @returns the path; null in a folder that cannot be written, where no set-up changes anything; undefined when another set-up was faster */
function tryToCreate(number) {
  const path = resolve(folder, `lock-${number}`);
  const draft = resolve(folder, `draft-${process.pid}`);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(draft, describe(process.pid));
  } catch {
    return null;
  }
  try {
    linkSync(draft, path);
  } catch (error) {
    return error.code === 'EEXIST' ? undefined : null;
  } finally {
    rmSync(draft, { force: true });
  }
  // A slow set-up may have created a number whose file a faster one has already deleted.
  if (newestNumber() !== number) {
    rmSync(path);
    return undefined;
  }
  for (const older of numbers()) if (older < number) rmSync(join(folder, `lock-${older}`), { force: true });
  process.on('exit', () => truncateSync(path));
  return path;
}

function numbers() {
  try {
    return readdirSync(folder).flatMap((name) => (/^lock-\d+$/.test(name) ? [Number(name.slice(5))] : []));
  } catch {
    return [];
  }
}

function newestNumber() {
  return Math.max(0, ...numbers());
}

/** Returns a living process that holds the lock. */
function holderOf(number) {
  let text = '';
  try {
    text = readFileSync(join(folder, `lock-${number}`), 'utf8');
  } catch {
    return undefined; // a newer lock replaced it, which `tryToCreate` finds out
  }
  for (const line of text.split('\n')) {
    const [pid, ...started] = line.split(' ');
    if (pid !== '' && startOf(pid) === started.join(' ')) return pid;
  }
  return undefined;
}

function describe(pid) {
  return `${pid} ${startOf(pid)}\n`;
}

/** Returns when a process started, because another one may get its number later; undefined when it has ended. */
function startOf(pid) {
  try {
    if (process.platform === 'linux') {
      // The name of the program is in parentheses and may contain spaces. Then follow the state and 18 other fields.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
      return 'ZX'.includes(fields[0]) ? undefined : fields[19];
    }
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}
