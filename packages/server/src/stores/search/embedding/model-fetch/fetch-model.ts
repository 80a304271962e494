import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { withoutTrailingSlashes } from '@quartermaster/contract';
import { isDiskFull } from '../../../../platform/disk/disk-space.ts';
import { exists } from '../../../../platform/disk/exists.ts';
import { syncToDisk, syncTreeToDisk } from '../../../../platform/disk/sync-to-disk.ts';
import type { Outbound, OutboundPolicy } from '../../../../platform/outbound.ts';
import { OperatorError } from '../../../../platform/server-process/operator-error.ts';
import { readModelFolder } from '../onnx/model-folder.ts';
import { bodyOf, downloadFile, downloadPolicy, type Source } from './download-file.ts';

export interface ModelRequest {
  /** The address of the folder that holds the files. */
  readonly url: string;
  readonly advice: Source['advice'];
  /**
   * The SHA-256 of the file SHA256SUMS at this address, the text of such a list, or the checksums by path. Null is the checksum
   * of a file that is downloaded for the first time.
   */
  readonly checksums: { readonly ofList: string } | { readonly list: string } | { readonly files: KnownChecksums };
  /** Further hosts, `name` or `name:port`, to which redirects may lead. */
  readonly allowedHosts: readonly string[];
  /** The new folder of the model. */
  readonly folder: string;
  /** The maximum size of all files together. */
  readonly maxBytes: number;
  /** Called with the name of a file and the bytes that have arrived of it. */
  readonly onProgress: (name: string, bytes: number) => void;
  /** Called with the complete temporary folder and the checksums of its files. When it throws, nothing is installed. */
  readonly beforeInstall?: (folder: string, checksums: Checksums) => Promise<void>;
}

export interface FetchedModel {
  readonly folder: string;
  readonly files: number;
  readonly bytes: number;
  /** Whether the folder had exactly these files already. */
  readonly isUnchanged: boolean;
}

/**
 * Downloads the files of a model, compares each with its checksum and installs them together. They are written into a
 * temporary folder beside the target, which is renamed when all files are complete.
 * @throws OperatorError, or the reason of the aborted signal. Nothing is installed then.
 */
export async function fetchModel(broker: Outbound, request: ModelRequest, signal: AbortSignal): Promise<FetchedModel> {
  const base = withoutTrailingSlashes(request.url);
  const folder = resolve(request.folder);
  const policy = downloadPolicy(base, request.allowedHosts);
  const checksums = await readChecksums({ broker, base, policy, advice: request.advice }, request.checksums);
  signal.throwIfAborted();
  if (await exists(folder)) return findInstalled(folder, checksums);
  await removeLeftovers(folder);
  const temporary = await mkdtemp(join(dirname(folder), `${leftoverPrefix(folder)}${process.pid}-`));
  try {
    let bytes = 0;
    const received = new Map<string, string>();
    for (const [name, checksum] of checksums) {
      const file = await downloadFile(
        {
          broker,
          policy,
          name,
          checksum,
          advice: request.advice,
          url: `${base}/${name}`,
          file: join(temporary, name),
          maxBytes: request.maxBytes - bytes,
          onBytes: createProgress((count) => request.onProgress(name, count)),
        },
        signal,
      );
      bytes += file.bytes;
      received.set(name, file.checksum);
    }
    await readModelFolder(temporary);
    await request.beforeInstall?.(temporary, received);
    signal.throwIfAborted();
    await chmod(temporary, 0o755); // the service may run as another user than the command
    await syncTreeToDisk(temporary);
    await rename(temporary, folder);
    await syncToDisk(dirname(folder));
    return { folder, files: checksums.size, bytes, isUnchanged: false };
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw isDiskFull(error) ? new OperatorError(`The disk of ${dirname(folder)} is full. Free some space.`) : error;
  }
}

function createProgress(report: (received: number) => void): (bytes: number) => void {
  let received = 0;
  return (bytes) => {
    received += bytes;
    report(received);
  };
}

const listTimeoutMs = 60_000;

async function readChecksums(
  {
    broker,
    base,
    policy,
    advice,
  }: Pick<ModelRequest, 'advice'> & { broker: Outbound; base: string; policy: OutboundPolicy },
  from: ModelRequest['checksums'],
): Promise<KnownChecksums> {
  if ('files' in from) return from.files;
  if ('list' in from) return parseChecksumList(from.list);
  const url = `${base}/${checksumListName}`;
  const limited = { ...policy, maxResponseBytes: maxListBytes, timeoutMs: listTimeoutMs };
  const result = await broker.send({ method: 'GET', url }, limited, AbortSignal.timeout(2 * listTimeoutMs));
  const body = bodyOf(result, { name: checksumListName, url, advice });
  const found = createHash('sha256').update(body).digest('hex');
  if (found !== from.ofList.toLowerCase()) {
    throw new OperatorError(
      `The checksum of ${checksumListName} does not match: expected ${from.ofList.toLowerCase()}, received ${found}. Check the address and the checksum.`,
    );
  }
  return parseChecksumList(body.toString('utf8'));
}

/** @throws OperatorError when the folder has other content */
async function findInstalled(folder: string, checksums: KnownChecksums): Promise<FetchedModel> {
  let bytes = 0;
  for (const [name, checksum] of checksums) {
    const hash = createHash('sha256');
    try {
      for await (const chunk of createReadStream(join(folder, name)) as AsyncIterable<Buffer>) {
        hash.update(chunk);
        bytes += chunk.length;
      }
    } catch {
      throw folderExists(folder);
    }
    if (hash.digest('hex') !== checksum) throw folderExists(folder);
  }
  return { folder, files: checksums.size, bytes, isUnchanged: true };
}

function folderExists(folder: string): OperatorError {
  return new OperatorError(`${folder} exists and holds other files. Name another folder, or remove it.`);
}

const leftoverPrefix = (folder: string) => `.${basename(folder)}.partial-`;

/** Removes what killed processes left. Their number is part of the name. */
async function removeLeftovers(folder: string): Promise<void> {
  const prefix = leftoverPrefix(folder);
  const names = await readdir(dirname(folder)).catch(() => {
    throw new OperatorError(`The folder ${dirname(folder)} does not exist or cannot be read. Create it.`);
  });
  for (const name of names.filter((each) => each.startsWith(prefix))) {
    const pid = Number.parseInt(name.slice(prefix.length), 10);
    if (!isRunning(pid)) await rm(join(dirname(folder), name), { recursive: true, force: true });
  }
}

/** A process downloads one model at a time. In a container, the service often has the process id of the killed one. */
function isRunning(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // what kill throws has a code
  }
}

/** The files of a model: their paths below its address, and their SHA-256 in hexadecimal. */
export type Checksums = ReadonlyMap<string, string>;
type KnownChecksums = ReadonlyMap<string, string | null>;

/** The name of a list of checksums beside the files that it lists. */
const checksumListName = 'SHA256SUMS';
const maxListBytes = 64 * 1024;
const maxFiles = 64;
const maxPath = 200;

/**
 * Reads the output of `sha256sum`: a checksum, a blank, a blank or an asterisk, and a path. Paths stay within the folder.
 * @throws OperatorError that names the line
 */
function parseChecksumList(text: string): Checksums {
  const checksums = new Map<string, string>();
  for (const [place, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const [, checksum = '', path = ''] = /^([0-9a-fA-F]{64}) [ *](.+?)\r?$/.exec(line) ?? [];
    const name = path.replace(/^\.\//, '');
    if (!isPath(name) || checksums.has(name)) {
      throw new OperatorError(
        `Line ${place + 1} of the list of checksums must be a SHA-256, two blanks and a relative path that occurs once, as sha256sum prints it.`,
      );
    }
    checksums.set(name, checksum.toLowerCase());
  }
  if (checksums.size === 0 || checksums.size > maxFiles) {
    throw new OperatorError(`The list of checksums names ${checksums.size} files. It must name 1 to ${maxFiles}.`);
  }
  return checksums;
}

function isPath(path: string): boolean {
  return (
    path.length <= maxPath &&
    path.split('/').every((part) => /^[A-Za-z0-9_.-]+$/.test(part) && part !== '.' && part !== '..')
  );
}
