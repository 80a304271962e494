import { OperatorError } from '../../../../platform/server-process/operator-error.ts';

/** The files of a model: their paths below its address, and their SHA-256 in hexadecimal. */
export type Checksums = ReadonlyMap<string, string>;

/** The name of a list of checksums beside the files that it lists. */
export const checksumListName = 'SHA256SUMS';
export const maxListBytes = 64 * 1024;
const maxFiles = 64;
const maxPath = 200;

/**
 * Reads the output of `sha256sum`: a checksum, a blank, a blank or an asterisk, and a path. Paths stay within the folder.
 * @throws OperatorError that names the line
 */
export function parseChecksumList(text: string): Checksums {
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
