import { fileDamaged } from '../../extraction-error.ts';
import { type PictureFile, rotationOf } from './picture.ts';

const damaged = (detail: string) => fileDamaged('JPEG', detail);

interface JpegHeader {
  readonly width: number;
  readonly height: number;
  readonly components: number;
  readonly dpi: number | undefined;
  readonly orientation: number | undefined;
  /** Whether Adobe wrote it, whose four inks are inverted. */
  readonly isAdobe: boolean;
}

/**
 * Reads the header of a JPEG picture. PDFium decodes the picture, after its size has been checked.
 * @throws ExtractionError when the header is damaged
 */
export function readJpeg(bytes: Uint8Array): PictureFile {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const { width, height, components, dpi, orientation, isAdobe } = readHeader(file);
  const dictionary = `${colorSpaceOf(components, isAdobe)} /BitsPerComponent 8 /Filter /DCTDecode`;
  const part = { left: 0, top: 0, width, height, dictionary, data: bytes };
  const isCut = file.lastIndexOf(endOfImage) === -1;
  return {
    pages: [{ width, height, dpi, rotate: rotationOf(orientation), parts: [part] }],
    warnings: isCut ? ['picture_cut: The picture is cut off. Its lower part was not read.'] : [],
  };
}

const endOfImage = Buffer.from([0xff, 0xd9]);

export function colorSpaceOf(components: number, isAdobe: boolean): string {
  if (components === 1) return '/ColorSpace /DeviceGray';
  if (components === 3) return '/ColorSpace /DeviceRGB';
  if (components === 4) return `/ColorSpace /DeviceCMYK ${isAdobe ? '/Decode [1 0 1 0 1 0 1 0]' : ''}`;
  throw damaged(`it has ${components} colours`);
}

/** Reads the segments in front of the pixels. */
export function readHeader(file: Buffer): JpegHeader {
  if (file[0] !== 0xff || file[1] !== 0xd8) throw damaged('it has no JPEG signature');
  let [dpi, orientation, isAdobe]: [number | undefined, number | undefined, boolean] = [undefined, undefined, false];
  for (let at = 2; at + 4 <= file.length; ) {
    const marker = file[at + 1] ?? 0;
    if (file[at] !== 0xff) throw damaged('its header is invalid');
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const length = file.readUInt16BE(at + 2);
    const segment = file.subarray(at + 4, at + 2 + length);
    if (isFrame(marker) && segment.length >= 6) {
      const [height, width] = [segment.readUInt16BE(1), segment.readUInt16BE(3)];
      if (width === 0 || height === 0) throw damaged('it has no size');
      return { width, height, components: segment[5] ?? 0, dpi, orientation, isAdobe };
    }
    if (marker === 0xe0 && segment.toString('latin1', 0, 4) === 'JFIF') dpi ??= densityOf(segment);
    else if (marker === 0xe1 && segment.toString('latin1', 0, 4) === 'Exif')
      orientation ??= orientationOf(segment.subarray(6));
    else if (marker === 0xee && segment.toString('latin1', 0, 5) === 'Adobe') isAdobe = true;
    if (length < 2) throw damaged('its header is invalid');
    at += 2 + length;
  }
  throw damaged('it is cut off before its pixels');
}

/** The start of a frame, which states the size. C4, C8 and CC have other meanings. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function densityOf(segment: Buffer): number | undefined {
  if (segment.length < 10) return undefined;
  const density = segment.readUInt16BE(8);
  if (segment[7] === 1) return density;
  return segment[7] === 2 ? Math.round(density * 2.54) : undefined;
}

/** Reads the orientation from the first directory of EXIF data. */
export function orientationOf(exif: Buffer): number | undefined {
  const isLittle = exif.toString('latin1', 0, 2) === 'II';
  const short = (at: number) => (at + 2 > exif.length ? 0 : isLittle ? exif.readUInt16LE(at) : exif.readUInt16BE(at));
  const start = exif.length < 8 ? 0 : isLittle ? exif.readUInt32LE(4) : exif.readUInt32BE(4);
  const count = Math.min(short(start), 200);
  for (let entry = 0; entry < count; entry += 1) {
    const at = start + 2 + entry * 12;
    if (short(at) === 0x0112) return short(at + 8);
  }
  return undefined;
}
