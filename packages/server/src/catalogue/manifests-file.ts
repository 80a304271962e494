import { hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Another form of the file needs another number. */
const format = 1;
const lineEnd = 0x0a;
/** A line is `["<key>",<manifest>]`; a key has 43 characters. */
const keyStart = 2;
const keyEnd = 45;

/**
 * The manifests of a file by their keys, as JSON not yet parsed. Empty when the file is missing, was written after
 * other checks, is not as it was written, or could have been written by somebody who may not decide what is right.
 */
export function readManifestsFile(file: string, checks: string): Map<string, Buffer> {
  const entries = new Map<string, Buffer>();
  const content = readTrusted(file);
  const end = content?.indexOf(lineEnd) ?? -1;
  if (content === undefined || end < 0) return entries;
  const lines = content.subarray(end + 1);
  if (content.toString('utf8', 0, end) !== headerOf(checks, lines)) return entries;
  let start = 0;
  for (let stop = lines.indexOf(lineEnd); stop >= 0; stop = lines.indexOf(lineEnd, start)) {
    const line = lines.subarray(start, stop);
    entries.set(line.toString('latin1', keyStart, keyEnd), line.subarray(keyEnd + 2, -1));
    start = stop + 1;
  }
  return entries;
}

/** Whole or not at all: another start may read it meanwhile. */
export async function writeManifestsFile(
  file: string,
  { checks, entries }: { readonly checks: string; readonly entries: ReadonlyMap<string, Buffer> },
): Promise<void> {
  const parts = [...entries].flatMap(([key, manifest]) => [`["${key}",`, manifest, ']\n']);
  const lines = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, [`${headerOf(checks, lines)}\n`, lines], { mode: 0o600 });
  await rename(draft, file);
}

function headerOf(checks: string, lines: Buffer): string {
  return JSON.stringify({ format, checks, sha256: hash('sha256', lines, 'base64url') });
}

/** A file that only the service, whoever installed it, or the machine's administrator can have written. */
function readTrusted(file: string): Buffer | undefined {
  try {
    const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
    const descriptor = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const facts = fstatSync(descriptor);
      const writers = [0, process.geteuid?.() ?? facts.uid, statSync(import.meta.filename).uid];
      const isTrusted = facts.isFile() && (facts.mode & 0o022) === 0 && writers.includes(facts.uid);
      return isTrusted ? readFileSync(descriptor) : undefined;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Missing or not to be read: it only spares work.
    return undefined;
  }
}
