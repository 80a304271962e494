import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { packageRefused } from './problems.ts';

/** The limits of a package, packed and unpacked. */
export const packageLimits = {
  packedBytes: 16 * 2 ** 20,
  unpackedBytes: 48 * 2 ** 20,
  files: 5_000,
  pathLength: 300,
} as const;

const blockBytes = 512;
/** The blocks of names and of a link are small. */
const mostNameBytes = 8 * 1024;

/**
 * Reads the files of an untrusted `.tgz` of npm, by their paths below its top folder. Nothing is written to disk. The buffers are
 * parts of one buffer.
 * @throws Problem REQUEST_VALIDATION_ERROR for links, devices, unsafe paths, and what exceeds `packageLimits`
 */
export async function readTarball(packed: Buffer): Promise<ReadonlyMap<string, Buffer>> {
  if (packed.length > packageLimits.packedBytes) throw tooLarge();
  const tar = await unpack(packed);
  const files = new Map<string, Buffer>();
  let longName: string | null = null;
  for (let at = 0; at + blockBytes <= tar.length; ) {
    const header = tar.subarray(at, at + blockBytes);
    if (header.every((byte) => byte === 0)) break;
    const { name, type, bytes } = readHeader(header);
    const content = tar.subarray(at + blockBytes, at + blockBytes + bytes);
    if (content.length < bytes) throw damaged('it ends inside a file');
    at += blockBytes + Math.ceil(bytes / blockBytes) * blockBytes;
    if (type === 'x' || type === 'L') longName = readLongName(type, content) ?? longName;
    else if (type === '0') {
      const path = pathBelowTop(longName ?? name);
      if (files.has(path)) throw damaged(`${JSON.stringify(path)} occurs twice`);
      files.set(path, content);
      if (files.size > packageLimits.files) throw tooLarge();
    } else if (type !== '5' && type !== 'g') throw damaged(`${JSON.stringify(name)} is a link or a device`);
    if (type !== 'x' && type !== 'L') longName = null;
  }
  return files;
}

async function unpack(packed: Buffer): Promise<Buffer> {
  try {
    return await promisify(gunzip)(packed, { maxOutputLength: packageLimits.unpackedBytes });
  } catch (cause) {
    throw (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
      ? tooLarge()
      : damaged('it cannot be decompressed', cause);
  }
}

function readHeader(header: Buffer): { readonly name: string; readonly type: string; readonly bytes: number } {
  const sum = header.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0);
  const bytes = readOctal(header, 124, 12);
  if (readOctal(header, 148, 8) !== sum || bytes === null) throw damaged('a header is not valid');
  const prefix = textOf(header, 257, 6) === 'ustar' ? textOf(header, 345, 155) : '';
  const type = String.fromCharCode(header[156] ?? 0);
  const name = textOf(header, 0, 100);
  return { name: prefix === '' ? name : `${prefix}/${name}`, type: type === '\0' ? '0' : type, bytes };
}

function readOctal(header: Buffer, start: number, length: number): number | null {
  const digits = textOf(header, start, length).trim();
  return /^[0-7]{1,11}$/.test(digits) ? Number.parseInt(digits, 8) : null;
}

function textOf(block: Buffer, start: number, length: number): string {
  const field = block.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.subarray(0, end === -1 ? length : end).toString('utf8');
}

/** Reads the name of the next file: all of a GNU block, or `path` of a pax block, whose lines are `LENGTH KEY=VALUE`. */
function readLongName(type: 'x' | 'L', content: Buffer): string | undefined {
  if (content.length > mostNameBytes) throw tooLarge();
  if (type === 'L') return textOf(content, 0, content.length);
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(32, at);
    const length = space === -1 ? Number.NaN : Number(content.toString('latin1', at, space));
    if (!(Number.isSafeInteger(length) && length > space - at + 1)) throw damaged('a header is not valid');
    const line = content.toString('utf8', space + 1, at + length - 1);
    if (line.startsWith('size=')) throw damaged('a header is not valid');
    if (line.startsWith('path=')) return line.slice(5);
    at += length;
  }
  return undefined;
}

function pathBelowTop(name: string): string {
  const [, ...parts] = name.split('/');
  const isPlain = parts.length > 0 && parts.every((part) => !['', '.', '..'].includes(part) && !/[\\\0]/.test(part));
  if (!isPlain || name.startsWith('/') || name.startsWith('../') || name.length > packageLimits.pathLength)
    throw damaged(`${JSON.stringify(name.slice(0, 100))} is not a plain relative path`);
  return parts.join('/');
}

function damaged(reason: string, cause?: unknown) {
  return packageRefused(`its archive is damaged or unsafe, because ${reason}`, 'Download it again.', cause);
}

function tooLarge() {
  const { packedBytes, unpackedBytes, files } = packageLimits;
  const limits = `${packedBytes} bytes packed, ${unpackedBytes} bytes unpacked, and ${files} files`;
  return packageRefused(`it exceeds the limits of ${limits}`, 'Choose a smaller package.');
}
