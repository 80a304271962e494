import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export type FileContent = { readonly content: Buffer } | { readonly refusal: string };

/**
 * Reads a file that stands in a folder itself: no link, no device, no more than `maxBytes`. A bundle cannot make the
 * service read or serve what is elsewhere on the machine. The refusal is a sentence.
 */
export async function readPlainFile(folder: string, name: string, maxBytes: number): Promise<FileContent> {
  const refusal = await refusalOf(folder, name, maxBytes);
  if (refusal !== undefined) return { refusal };
  try {
    return { content: await readFile(join(folder, name)) };
  } catch (error) {
    return { refusal: `${name} cannot be read (${errorCode(error)}).` };
  }
}

async function refusalOf(folder: string, name: string, maxBytes: number): Promise<string | undefined> {
  if (!/^[^/\\\0]+$/.test(name) || name === '..' || name === '.') return `${name} is no file name.`;
  try {
    const stats = await lstat(join(folder, name));
    if (stats.isSymbolicLink()) return `${name} is a symbolic link; a bundle holds its files itself.`;
    if (!stats.isFile()) return `${name} is no file.`;
    return stats.size > maxBytes ? `${name} is larger than ${maxBytes / 1024} KiB.` : undefined;
  } catch (error) {
    const code = errorCode(error);
    return code === 'ENOENT' ? `There is no file ${name} in the folder.` : `${name} cannot be read (${code}).`;
  }
}

export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

/** A short reason for people: the system's code, else the first line of the message. */
export function reasonOf(error: unknown): string {
  const code = errorCode(error);
  if (code !== 'unknown' || !(error instanceof Error)) return code;
  return error.message.split('\n', 1)[0] ?? code;
}
