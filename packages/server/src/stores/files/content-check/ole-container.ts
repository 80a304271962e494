import type { CheckedContent } from './checked-content.ts';

/**
 * OLE2 compound files are the older Office formats, and the containers of newer documents with a password. Source:
 * MS-CFB.
 */
const magic = Buffer.from('d0cf11e0a1b11ae1', 'hex');
const entrySize = 128;
/** The streams that identify the format are among the first of the directory. */
const mostDirectorySectors = 256;
const lastRegularSector = 0xfffffffa;

/** Recognises the container of old Office files, and of new ones with a password, by its first bytes. */
export function isOle(head: Buffer): boolean {
  return head.subarray(0, magic.length).equals(magic);
}

/** Returns `encrypted package` for a newer document with a password, otherwise a phrase that names the format. */
export async function describeOle(content: CheckedContent): Promise<string> {
  const names = await readDirectoryNames(content);
  if (names.has('EncryptedPackage')) return 'encrypted package';
  if (names.has('WordDocument')) return 'Word 97–2003';
  if (names.has('Workbook') || names.has('Book')) return 'Excel 97–2003';
  if (names.has('PowerPoint Document')) return 'PowerPoint 97–2003';
  return 'an OLE2 container without a document';
}

async function readDirectoryNames(content: CheckedContent): Promise<Set<string>> {
  const names = new Set<string>();
  const header = await content.read(0, 512);
  const shift = header.length < 512 ? 0 : header.readUInt16LE(30);
  if (shift !== 9 && shift !== 12) return names;
  const sectorSize = 1 << shift;
  const readSector = (sector: number) => content.read((sector + 1) * sectorSize, sectorSize);
  let sector = header.readUInt32LE(48);
  for (let count = 0; count < mostDirectorySectors && sector <= lastRegularSector; count += 1) {
    const entries = await readSector(sector);
    for (let at = 0; at + entrySize <= entries.length; at += entrySize) {
      const length = Math.min(entries.readUInt16LE(at + 64), 64);
      if (length >= 2) names.add(entries.toString('utf16le', at, at + length - 2));
    }
    sector = await nextSector(header, sector, sectorSize, readSector);
  }
  return names;
}

/** Follows the allocation table. The header lists its first 109 sectors, which is enough for documents of this size. */
async function nextSector(
  header: Buffer,
  sector: number,
  sectorSize: number,
  readSector: (sector: number) => Promise<Buffer>,
): Promise<number> {
  const perSector = sectorSize / 4;
  const index = Math.floor(sector / perSector);
  if (index >= 109) return lastRegularSector + 1;
  const table = header.readUInt32LE(76 + index * 4);
  if (table > lastRegularSector) return lastRegularSector + 1;
  const entries = await readSector(table);
  const at = (sector % perSector) * 4;
  return at + 4 <= entries.length ? entries.readUInt32LE(at) : lastRegularSector + 1;
}
