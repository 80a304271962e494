import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Extension, type FormatContent, formats } from '@quartermaster/contract';
import { pictureFormatOf } from '@quartermaster/contract/formats';
import { isZip, readZipEntry } from '../../../platform/zip.ts';
import { contentContradicts } from '../problems.ts';
import type { CheckedContent } from './checked-content.ts';
import { describeText } from './text-plausibility.ts';

const sampleBytes = 64 * 1024;

/**
 * Throws REQUEST_VALIDATION_ERROR when the content contradicts the extension: a .pdf must be a PDF, a .docx a Word
 * package, a .txt text in some encoding. A picture may be of another picture format, and a package may have macros. Whether the document can be read completely is found when a record is created
 * from it. Empty content is accepted with every extension. Source: docs/contract.md "Files".
 */
export async function checkContent(extension: Extension, content: CheckedContent): Promise<void> {
  if (content.bytes === 0) return;
  const head = await content.read(0, sampleBytes);
  const format: FormatContent = formats[extension].content;
  switch (format.kind) {
    case 'start': {
      const start = head.toString('latin1', 0, format.within ?? 16);
      if (!format.starts.some((pattern) => pattern.test(start)))
        throw contentContradicts(extension, describe(head), format.expected);
      return;
    }
    case 'picture':
      if (pictureFormatOf(head.toString('latin1', 0, 16)) === undefined)
        throw contentContradicts(extension, describe(head), `${format.expected} or another picture`);
      return;
    case 'office':
      return checkOffice(extension, content, { ...format, head });
    case 'named_zip':
      return checkNamedType(extension, content, { ...format, head });
    case 'text': {
      const found = nameOfFormat(head) ?? describeText(head);
      if (found !== undefined) throw contentContradicts(extension, found, 'text');
      const { expected, test } = textStarts[format.starts ?? 'any'];
      if (!test(head)) throw contentContradicts(extension, 'text of another kind', expected);
    }
  }
}

const textStarts = {
  any: { expected: 'text', test: () => true },
  mail: { expected: 'a mail with a header', test: hasMailHeader },
  json: { expected: 'a JSON document', test: startsLikeJson },
} as const;

/** Looks for fields that every mail has some of, at the start of a line. */
function hasMailHeader(head: Buffer): boolean {
  const start = head.toString('latin1', 0, 16 * 1024);
  return /^(?:from|to|subject|date|received|message-id|mime-version|return-path|delivered-to)[ \t]?:/im.test(start);
}

/** Looks at the first character. In UTF-16 and UTF-32 the reader decides. */
function startsLikeJson(head: Buffer): boolean {
  return head.includes(0) || /^(?:\xef\xbb\xbf)?\s*(?:$|[[{"\-\dtfn])/.test(head.toString('latin1'));
}

const contentTypesPart = '[Content_Types].xml';
/** Enough for a workbook with thousands of sheets. */
const mostContentTypes = 1024 * 1024;

interface OfficeKind {
  readonly mainPart: string;
  readonly expected: string;
  readonly head: Buffer;
}

async function checkOffice(
  extension: Extension,
  content: CheckedContent,
  { mainPart, expected, head }: OfficeKind,
): Promise<void> {
  if (isOle(head)) {
    const found = await describeOle(content);
    // A password puts the package into a container of the older format. Creating a record reports that it is encrypted.
    if (found === 'encrypted package') return;
    throw contentContradicts(extension, `an older Office file (${found})`, expected);
  }
  if (!isZip(head)) throw contentContradicts(extension, describe(head), expected);
  const types = await readZipEntry(content, contentTypesPart, mostContentTypes);
  if (types === undefined) {
    throw contentContradicts(extension, `a ZIP archive without a readable ${contentTypesPart}`, expected);
  }
  const wanted = (part: string) => part.startsWith(mainPart) && !part.includes('.binary.');
  const found = await findMainPart(types, wanted);
  if (found !== undefined && wanted(found)) return;
  const other = found === undefined ? 'a package of another kind' : `a package whose main part is ${found}`;
  throw contentContradicts(extension, other, expected);
}

/** These archives name their type in their first entry. Sources: EPUB 3.3, "OCF ZIP container"; OpenDocument 1.3, part 2, 3.3. */
async function checkNamedType(
  extension: Extension,
  content: CheckedContent,
  { types, expected, head }: { readonly types: readonly string[]; readonly expected: string; readonly head: Buffer },
): Promise<void> {
  if (!isZip(head)) throw contentContradicts(extension, describe(head), expected);
  const type = (await readZipEntry(content, 'mimetype', 1024))?.toString('latin1').trim() ?? '';
  if (!types.includes(type)) throw contentContradicts(extension, 'a ZIP archive of another kind', expected);
}

/** The list is read in slices, between which the event loop runs other work. */
const sliceBytes = 64 * 1024;
/** The overlap is longer than any content type. It is even, so that a slice of UTF-16 starts at a code unit. */
const overlapBytes = 512;

/**
 * Returns the first main part that `wanted` accepts, otherwise the first of all. Examples are
 * `wordprocessingml.document`, `spreadsheetml.sheet` and `wordprocessingml.document.macroenabled`.
 */
async function findMainPart(types: Buffer, wanted: (part: string) => boolean): Promise<string | undefined> {
  const decode = decoderOf(types);
  let first: string | undefined;
  for (let at = 0; at < types.length; at += sliceBytes) {
    if (at > 0) await nextTurn();
    const found = mainPartsOf(decode(types.subarray(at, at + sliceBytes + overlapBytes)));
    const part = found.find(wanted);
    if (part !== undefined) return part;
    first ??= found[0];
  }
  return first;
}

function mainPartsOf(xml: string): string[] {
  const found = xml
    .toLowerCase()
    .matchAll(/application\/vnd\.(?:openxmlformats-officedocument\.|ms-)([a-z0-9.]{1,80})\.main\+xml/g);
  return [...found].map((match) =>
    (match[1] ?? '')
      .replace(/^word\./, 'wordprocessingml.')
      .replace(/^excel\./, 'spreadsheetml.')
      .replace(/^powerpoint\./, 'presentationml.'),
  );
}

function decoderOf(bytes: Buffer): (slice: Buffer) => string {
  const name =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null;
  return (slice) => (name === null ? slice.toString('latin1') : new TextDecoder(name).decode(slice));
}

const knownStarts: ReadonlyArray<readonly [name: string, magic: Buffer]> = [
  ['a PDF document', Buffer.from('%PDF-')],
  ['a ZIP archive', Buffer.from('PK\x03\x04', 'latin1')],
  ['a ZIP archive', Buffer.from('PK\x05\x06', 'latin1')],
  ['a PNG image', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')],
  ['a JPEG image', Buffer.from('\xff\xd8\xff', 'latin1')],
  ['a TIFF image', Buffer.from('II*\0', 'latin1')],
  ['a TIFF image', Buffer.from('MM\0*', 'latin1')],
  ['a GIF image', Buffer.from('GIF87a')],
  ['a GIF image', Buffer.from('GIF89a')],
  ['a gzip archive', Buffer.from('\x1f\x8b\x08', 'latin1')],
  ['an ELF program', Buffer.from('\x7fELF', 'latin1')],
  ['an older Office file', Buffer.from('d0cf11e0a1b11ae1', 'hex')],
  ['an XZ archive', Buffer.from('\xfd7zXZ\x00', 'latin1')],
  ['a 7-Zip archive', Buffer.from('7z\xbc\xaf\x27\x1c', 'latin1')],
  ['a SQLite database', Buffer.from('SQLite format 3\x00', 'latin1')],
];

function nameOfFormat(head: Buffer): string | undefined {
  return knownStarts.find(([, magic]) => head.subarray(0, magic.length).equals(magic))?.[0];
}

function describe(head: Buffer): string {
  return nameOfFormat(head) ?? describeText(head) ?? 'text';
}

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
function isOle(head: Buffer): boolean {
  return head.subarray(0, magic.length).equals(magic);
}

/** Returns `encrypted package` for a newer document with a password, otherwise a phrase that names the format. */
async function describeOle(content: CheckedContent): Promise<string> {
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
