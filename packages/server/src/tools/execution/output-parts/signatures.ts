import { officeTypes } from '../../artifacts/media-types.ts';

/** The first bytes of formats, by media type. A format that begins with other bytes is not recognised. */
const signatures: ReadonlyArray<readonly [mediaType: string, matches: (bytes: Buffer) => boolean]> = [
  ['image/png', startsWith('\x89PNG\r\n\x1a\n')],
  ['image/jpeg', startsWith('\xff\xd8\xff')],
  ['image/gif', startsWith('GIF8')],
  ['image/webp', (bytes) => isRiff(bytes, 'WEBP')],
  ['image/avif', (bytes) => brandOf(bytes) === 'image/avif'],
  ['image/heic', (bytes) => brandOf(bytes) === 'image/heic'],
  ['image/heif', (bytes) => brandOf(bytes) === 'image/heif'],
  ['image/bmp', isBitmap],
  ['image/tiff', (bytes) => startsWith('II*\0')(bytes) || startsWith('MM\0*')(bytes)],
  ['audio/wav', (bytes) => isRiff(bytes, 'WAVE')],
  ['audio/mpeg', (bytes) => startsWith('ID3')(bytes) || isMp3(bytes)],
  ['audio/ogg', startsWith('OggS')],
  ['audio/flac', startsWith('fLaC')],
  ['audio/mp4', (bytes) => brandOf(bytes) === 'audio/mp4'],
  ['video/quicktime', (bytes) => brandOf(bytes) === 'video/quicktime'],
  ['video/mp4', (bytes) => brandOf(bytes) === 'video/mp4'],
  ['video/webm', startsWith('\x1a\x45\xdf\xa3')],
  ['application/pdf', startsWith('%PDF-')],
  ...officeTypes.map((type) => [type, (bytes: Buffer) => officeTypeOf(bytes) === type] as const),
  ['application/zip', isZip],
  ['application/gzip', startsWith('\x1f\x8b\x08')],
];

/** How many bytes the signatures need. Office documents need the end of the file too: without it they are ZIP archives. */
export const signatureBytes = 3072;

/** Recognises a format by its first bytes, and an office document by its list of entries. */
export function mediaTypeOf(bytes: Buffer): string | undefined {
  return signatures.find(([, matches]) => matches(bytes))?.[0];
}

/** Whether all bytes of this type begin with a known signature. */
export function hasSignature(mediaType: string): boolean {
  return signatures.some(([known]) => known === mediaType && mediaType !== 'audio/mpeg');
}

/** Whether an archive may be a document of this type: its list of entries may not have been read. */
export function mayBeInArchive(mediaType: string): boolean {
  return officeTypes.some((type) => type === mediaType);
}

function startsWith(signature: string): (bytes: Buffer) => boolean {
  return (bytes) => bytes.toString('latin1', 0, signature.length) === signature;
}

function isRiff(bytes: Buffer, kind: string): boolean {
  return startsWith('RIFF')(bytes) && bytes.toString('latin1', 8, 12) === kind;
}

function isZip(bytes: Buffer): boolean {
  return startsWith('PK\x03\x04')(bytes);
}

const brands: Readonly<Record<string, string>> = {
  avif: 'image/avif',
  avis: 'image/avif',
  heic: 'image/heic',
  heix: 'image/heic',
  hevc: 'image/heic',
  hevx: 'image/heic',
  mif1: 'image/heif',
  msf1: 'image/heif',
  'M4A ': 'audio/mp4',
  'M4B ': 'audio/mp4',
  'qt  ': 'video/quicktime',
};

/** The type by the major brand of a file of the ISO base media format (ISO/IEC 14496-12, section 4.3). */
function brandOf(bytes: Buffer): string | undefined {
  if (bytes.toString('latin1', 4, 8) !== 'ftyp') return undefined;
  return brands[bytes.toString('latin1', 8, 12)] ?? 'video/mp4';
}

/** A header of 14 bytes, two of its fields zero, and then the size of one of the known headers of information. */
function isBitmap(bytes: Buffer): boolean {
  if (bytes.length < 26 || !startsWith('BM')(bytes) || bytes.readUInt32LE(6) !== 0) return false;
  return [12, 40, 52, 56, 64, 108, 124].includes(bytes.readUInt32LE(14));
}

const bitRates = {
  1: [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  2: [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;
const sampleRates = [44_100, 48_000, 32_000] as const;

/** Two frames of MPEG audio, layer III, one after the other: a single header of four bytes occurs by chance. */
function isMp3(bytes: Buffer): boolean {
  const length = mp3FrameLength(bytes, 0);
  return length !== undefined && mp3FrameLength(bytes, length) !== undefined;
}

/** The length of a frame in bytes (ISO/IEC 11172-3, section 2.4.3.1, and 13818-3). Undefined without a header at the offset. */
function mp3FrameLength(bytes: Buffer, offset: number): number | undefined {
  if (offset + 4 > bytes.length) return undefined;
  const header = bytes.readUInt32BE(offset);
  const version = (header >>> 19) & 3;
  const isLayer3 = header >>> 21 === 0x7ff && ((header >>> 17) & 3) === 1;
  const rate = sampleRates[(header >>> 10) & 3];
  if (!isLayer3 || version === 1 || rate === undefined) return undefined;
  const bitRate = bitRates[version === 3 ? 1 : 2][((header >>> 12) & 15) - 1];
  if (bitRate === undefined) return undefined;
  const divisor = version === 3 ? 1 : version === 2 ? 2 : 4;
  const padding = (header >>> 9) & 1;
  return Math.floor(((version === 3 ? 144_000 : 72_000) * bitRate) / (rate / divisor)) + padding;
}

/** How much of the end of an archive is searched for names of entries. */
const listedBytes = 64 * 1024;
const mainParts = ['word/document.xml', 'xl/workbook.xml', 'ppt/presentation.xml'] as const;

/**
 * The type of an office document: by the entry that an OPC package must have, or by the entry `mimetype`, which is the first one
 * and not compressed in OpenDocument (part 2, section 3.3) and EPUB (OCF, section 4.3).
 */
function officeTypeOf(bytes: Buffer): string | undefined {
  if (!isZip(bytes)) return undefined;
  const start = bytes.toString('latin1', 30, 120);
  if (start.startsWith('mimetype')) {
    const named = officeTypes.filter((type) => start.startsWith(type, 'mimetype'.length));
    return named.toSorted((a, b) => b.length - a.length)[0];
  }
  const list = bytes.subarray(Math.max(0, bytes.length - listedBytes));
  if (!list.includes('[Content_Types].xml')) return undefined;
  const index = mainParts.findIndex((name) => list.includes(name));
  return index === -1 ? undefined : officeTypes[index];
}
