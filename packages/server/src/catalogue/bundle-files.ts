import type { Dirent, Stats } from 'node:fs';
import { constants, lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { lstat, readdir, readFile, realpath } from 'node:fs/promises';

type Soon<T> = T | Promise<T>;

/** The file system as far as bundles are read from it. */
export interface BundleFiles {
  /** Absolute, without links. */
  readonly realPath: (path: string) => Soon<string>;
  readonly list: (folder: string) => Soon<Dirent[]>;
  /** Of a link: of itself. */
  readonly facts: (path: string) => Soon<Stats>;
  readonly content: (path: string) => Soon<Buffer>;
}

/** Whatever a file becomes after it was looked at: a link is not followed, a pipe not waited for. */
const flag = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** For a running service: its loop never waits for a disk. */
export const filesWhileServing: BundleFiles = {
  realPath: (path) => realpath(path),
  list: (folder) => readdir(folder, { withFileTypes: true }),
  facts: (path) => lstat(path),
  content: (path) => readFile(path, { flag }),
};

/** For a start, when nobody is served yet: thousands of small files take a tenth of the processor time. */
export const filesAtStart: BundleFiles = {
  realPath: (path) => realpathSync.native(path),
  list: (folder) => readdirSync(folder, { withFileTypes: true }),
  facts: (path) => lstatSync(path),
  content: (path) => readFileSync(path, { flag }),
};
