import { createHash } from 'node:crypto';
import { commandName } from '@quartermaster/contract/command-name';
import { archiveRefused } from './problems.ts';

/** One file of a bundle in `contents.json`. */
export interface ListedFile {
  /** A relative path with `/` as separator. */
  readonly path: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** The content of `contents.json`. */
export interface Contents {
  readonly bundleId: string;
  readonly version: string;
  /** Sorted by path. */
  readonly files: readonly ListedFile[];
}

const format = 'quartermaster-bundle/1';

/** The limits of a bundle, packed and unpacked. */
export const bundleLimits = {
  files: 2_000,
  fileBytes: 8 * 2 ** 20,
  bytes: 32 * 2 ** 20,
  archiveBytes: 40 * 2 ** 20,
  pathLength: 200,
  depth: 8,
} as const;

/** Writes `contents.json`. The same files give the same bytes, and so the same digest. */
export function writeContents({ bundleId, version, files }: Contents): Buffer {
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return Buffer.from(`${JSON.stringify({ format, bundle_id: bundleId, version, files: sorted })}\n`);
}

/** Reads `contents.json` of an archive. @throws PackagingError */
export function readContents(bytes: Uint8Array): Contents {
  const value = parse(bytes);
  const { bundle_id: bundleId, version, files } = Object(value);
  if (Reflect.get(Object(value), 'format') !== format)
    throw archiveRefused(`the format in contents.json must be ${format}`);
  if (typeof bundleId !== 'string' || !/^[a-z][a-z0-9_]{0,63}$/.test(bundleId))
    throw archiveRefused('contents.json must name a valid bundle id');
  if (typeof version !== 'string' || !/^\d+\.\d+\.\d+$/.test(version))
    throw archiveRefused('contents.json must name a version such as 1.2.0');
  if (!Array.isArray(files) || !files.every(isListedFile))
    throw archiveRefused('the list of files in contents.json is not valid');
  if (files.length > bundleLimits.files) throw archiveRefused(`it must have at most ${bundleLimits.files} files`);
  const contents = { bundleId, version, files };
  if (!writeContents(contents).equals(bytes))
    throw archiveRefused(`contents.json is not in the form that "${commandName} bundle pack" writes`);
  return contents;
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw archiveRefused('contents.json is not valid JSON', cause);
  }
}

function isListedFile(value: unknown): value is ListedFile {
  const { path, bytes, sha256 } = Object(value);
  const isSize = Number.isSafeInteger(bytes) && bytes >= 0;
  return typeof path === 'string' && isSize && typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256);
}

export function listFile(path: string, content: Uint8Array): ListedFile {
  return { path, bytes: content.length, sha256: sha256(content) };
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The id of an archive: `weather@1.2.0+sha256.<digest>`. */
export function archiveId({ bundleId, version }: Contents, digest: string): string {
  return `${bundleId}@${version}+sha256.${digest}`;
}

/**
 * Returns why a path cannot be that of a bundle's file; null when it can. Names that are equal on some file systems (`A` and `a`)
 * are detected by comparing them in lower case.
 */
export function describePathError(path: string): string | null {
  const parts = path.split('/');
  if (path.length > bundleLimits.pathLength) return `longer than ${bundleLimits.pathLength} characters`;
  if (parts.length > bundleLimits.depth) return `deeper than ${bundleLimits.depth} folders`;
  const isPlain = parts.every((part) => /^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(part) && !part.endsWith('.'));
  return isPlain ? null : 'not a plain relative path of letters, digits, ".", "_" and "-"';
}
