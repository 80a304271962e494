import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDiskFull } from '../../../../platform/disk/disk-space.ts';
import type { EgressResult, Outbound, OutboundPolicy } from '../../../../platform/outbound.ts';
import { OperatorError } from '../../../../platform/server-process/operator-error.ts';

/** A file, as messages name it. */
export interface Source {
  readonly url: string;
  /** The path below the address. */
  readonly name: string;
  /** What the operator can do about an address that does not have the file, or has a larger one. */
  readonly advice: { readonly missing: string; readonly large: string };
}

export interface Download extends Source {
  readonly broker: Outbound;
  readonly policy: OutboundPolicy;
  readonly file: string;
  /** Null when it is not known yet. */
  readonly checksum: string | null;
  readonly maxBytes: number;
  readonly onBytes: (bytes: number) => void;
}

/** Larger answers are written to the disk while they arrive. */
const mostInMemory = 1024 * 1024;
const maxRedirects = 5;
/** The time without any data after which a download ends, in milliseconds. */
export const idleMs = 60_000;
/** The time limit of one file, in milliseconds. */
const timeoutMs = 24 * 3_600_000;

/** The hosts that the operator has named: that of the address, and those to which its redirects may lead. */
export function downloadPolicy(url: string, allowedHosts: readonly string[]): OutboundPolicy {
  const { host, protocol } = new URL(url);
  return {
    hosts: new Set([host, ...allowedHosts.map((host) => host.toLowerCase())]),
    hostsBy: 'command',
    // A redirect never leads from an encrypted connection to an open one.
    schemes: new Set(protocol === 'https:' ? ['https'] : ['https', 'http']),
    credentials: new Map(),
    inject: [],
    maxResponseBytes: mostInMemory,
    maxRedirects,
    timeoutMs,
  };
}

/**
 * Downloads one file and compares its checksum.
 * @throws OperatorError with the reason, or the reason of the aborted signal. The file may then exist in part.
 */
export async function downloadFile(
  download: Download,
  signal: AbortSignal,
): Promise<{ readonly bytes: number; readonly checksum: string }> {
  const { broker, url, policy, file } = download;
  await mkdir(dirname(file), { recursive: true });
  const handle = await open(file, 'wx', 0o644);
  const writer = createWriter(handle, download);
  const idle = createIdleTimer(signal);
  let failure: unknown;
  let isReceived = false;
  try {
    const receiveLarge: OutboundPolicy['receiveLarge'] = async ({ body }) => {
      isReceived = true;
      try {
        for await (const chunk of body) {
          idle.restart();
          await writer.write(chunk);
        }
      } catch (error) {
        failure = error;
      }
    };
    const request = { method: 'GET', url, headers: { accept: '*/*' } };
    const result = await broker.send(request, { ...policy, receiveLarge }, idle.signal);
    if (failure !== undefined) throw failure;
    if (!isReceived) await writer.write(bodyOf(result, download));
    const received = writer.verify();
    await handle.sync();
    return received;
  } catch (error) {
    signal.throwIfAborted();
    throw describe(error, download, idle.signal.aborted);
  } finally {
    idle.stop();
    await handle.close();
  }
}

class TooLarge extends Error {}

function createWriter(handle: FileHandle, { name, checksum, maxBytes, onBytes }: Download) {
  const hash = createHash('sha256');
  let bytes = 0;
  return {
    async write(chunk: Buffer): Promise<void> {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new TooLarge();
      hash.update(chunk);
      await handle.writeFile(chunk);
      onBytes(chunk.length);
    },
    verify() {
      const found = hash.digest('hex');
      if (checksum === null || found === checksum) return { bytes, checksum: found };
      throw new OperatorError(
        `The checksum of ${name} does not match: expected ${checksum}, received ${found}. Check the address and the checksum.`,
      );
    },
  };
}

function createIdleTimer(signal: AbortSignal) {
  const idle = new AbortController();
  let timer = setTimeout(() => idle.abort(), idleMs);
  return {
    signal: AbortSignal.any([signal, idle.signal]),
    restart() {
      clearTimeout(timer);
      timer = setTimeout(() => idle.abort(), idleMs);
    },
    stop: () => clearTimeout(timer),
  };
}

/** The body of a small answer. @throws OperatorError for any other result */
export function bodyOf(result: EgressResult, { name, url, advice }: Source): Buffer {
  switch (result.kind) {
    case 'response':
      if (result.status === 200) return result.body;
      throw new OperatorError(
        `The server answered with status ${result.status} for ${name} at ${url}. ${advice.missing}`,
      );
    case 'too_large':
      throw new OperatorError(`The answer for ${name} is too large.`);
    case 'timed_out':
      throw new OperatorError(`The download of ${name} took more than ${result.limitMs} ms.`);
    case 'refused':
      throw new OperatorError(`${name} cannot be downloaded: ${result.message}.`);
    case 'unreachable':
      throw new OperatorError(`${name} cannot be downloaded from ${url}: ${result.message}. ${advice.missing}`);
    case 'credentials_rejected':
      throw new OperatorError(`The server answered with status ${result.status} for ${name}.`);
  }
}

function describe(error: unknown, { name, maxBytes, advice }: Download, isIdle: boolean) {
  if (error instanceof OperatorError) return error;
  if (error instanceof TooLarge) {
    const mebibytes = Math.floor(maxBytes / 1024 / 1024);
    return new OperatorError(`${name} exceeds the ${mebibytes} MiB that are left for it. ${advice.large}`);
  }
  if (isDiskFull(error)) return error;
  if (isIdle) {
    return new OperatorError(
      `The download of ${name} broke off: no data for ${idleMs / 1000} s. Run the command again.`,
    );
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new OperatorError(`The download of ${name} broke off: ${reason}. Run the command again.`);
}
