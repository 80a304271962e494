import { constants } from 'node:fs';
import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export type FileContent = { readonly content: Buffer } | { readonly refusal: string };

export interface PlainFile {
  readonly folder: string;
  readonly name: string;
  readonly maxBytes: number;
}

/** Guards against a file that is replaced after the check: links are not followed, pipes do not block. */
const flag = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Reads a regular file in a folder, at most `maxBytes`. Links and devices are refused, so that a bundle cannot make the service
 * read or serve other files of the machine. The refusal is a sentence.
 */
export async function readPlainFile(file: PlainFile): Promise<FileContent> {
  const refusal = await refusalOf(file);
  if (refusal !== undefined) return { refusal };
  try {
    return { content: await readFile(join(file.folder, file.name), { flag }) };
  } catch (error) {
    return { refusal: `${file.name} cannot be read (${errorCode(error)}).` };
  }
}

async function refusalOf({ folder, name, maxBytes }: PlainFile): Promise<string | undefined> {
  if (!/^[^/\\\0]+$/.test(name) || name === '..' || name === '.') return `${name} is not a valid file name.`;
  try {
    const facts = await lstat(join(folder, name));
    if (facts.isSymbolicLink()) return `${name} is a symbolic link. Replace it with the file.`;
    if (!facts.isFile()) return `${name} is not a regular file.`;
    return facts.size > maxBytes ? `${name} is larger than ${maxBytes / 1024} KiB.` : undefined;
  } catch (error) {
    const code = errorCode(error);
    return code === 'ENOENT' ? `The file ${name} does not exist in the folder.` : `${name} cannot be read (${code}).`;
  }
}

export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

/** A short reason for people: the code of the system, otherwise the first line of the message. */
export function reasonOf(error: unknown): string {
  const code = errorCode(error);
  if (code !== 'unknown' || !(error instanceof Error)) return code;
  return error.message.split('\n', 1)[0] ?? code;
}
