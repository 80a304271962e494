import { pictureFormatOf } from '@quartermaster/contract/formats';
import type { PageFormat } from '../../page-protocol.ts';

/** A picture of a file, or one page of a TIFF file. */
export interface PicturePage {
  readonly width: number;
  readonly height: number;
  /** Pixels per inch, when the file says so. */
  readonly dpi: number | undefined;
  /** How a viewer turns the picture, in degrees. */
  readonly rotate: 0 | 90 | 180 | 270;
  /** Empty for a picture with too many pixels, which is never decoded. */
  readonly parts: readonly PicturePart[];
}

/** A rectangle of the picture. `data` is compressed as the entries of a PDF image dictionary say. */
export interface PicturePart {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly dictionary: string;
  readonly data: Uint8Array;
}

export interface PictureFile {
  readonly pages: readonly PicturePage[];
  readonly warnings: readonly string[];
}

/** Picture formats that this process decodes itself have at most this many pixels, checked before they are decoded. */
export const mostDecodedPixels = 40_000_000;

/** A picture in shades of grey as its only part. */
export function grayPart(width: number, height: number, gray: Uint8Array): PicturePart {
  const dictionary = '/ColorSpace /DeviceGray /BitsPerComponent 8';
  return { left: 0, top: 0, width, height, dictionary, data: gray };
}

/** Returns the rotation for an orientation of EXIF or TIFF. Mirrored pictures are turned, but stay mirrored. */
export function rotationOf(orientation: number | undefined): PicturePage['rotate'] {
  if (orientation === 3 || orientation === 4) return 180;
  if (orientation === 5 || orientation === 6) return 90;
  return orientation === 7 || orientation === 8 ? 270 : 0;
}

export type PictureFormat = Exclude<PageFormat, 'pdf'>;

/*
 * Why the service decodes pictures itself: the pages that the API shows need pixels, which tesseract does not return, and
 * tesseract receives only pictures that the service has described (`run-tesseract.ts`). Given the files themselves,
 * tesseract 5.3 reads 23 of 25 pictures of one sentence (not EXIF orientation 3, not a transparent WebP); this reads 25.
 */

/**
 * Reads the header of a picture, and its pixels if PDFium cannot decode them. The content decides the format; the name is
 * often wrong.
 * @param named the format of the name
 * @throws ExtractionError when it is damaged
 */
export async function openPicture(named: PictureFormat, bytes: Uint8Array): Promise<PictureFile> {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 16)).toString('latin1');
  switch (pictureFormatOf(start) ?? named) {
    case 'png':
      return (await import('./read-png.ts')).readPng(bytes);
    case 'jpg':
      return (await import('./read-jpeg.ts')).readJpeg(bytes);
    case 'tiff':
      return (await import('./read-tiff.ts')).readTiff(bytes);
    case 'webp':
      return (await import('./read-webp.ts')).readWebp(bytes);
  }
}

/** How the samples of a row of pixels are stored. */
export interface SampleLayout {
  /** Bits of one sample: 1, 2, 4, 8 or 16. */
  readonly depth: number;
  readonly channels: number;
  readonly color: 'gray' | 'rgb' | 'cmyk' | readonly number[];
  /** The channel that says how opaque a pixel is. */
  readonly alpha?: number | undefined;
  /** Whether the lowest value of grey is white. */
  readonly isInverted?: boolean;
  /** Whether the lower byte of a sample of 16 bits comes first. */
  readonly isLittleEndian?: boolean;
}

const white = 255;

/** The brightness of a colour on white paper. */
export function brightness(red: number, green: number, blue: number, opacity = 255): number {
  return Math.round(white + ((0.299 * red + 0.587 * green + 0.114 * blue - white) * opacity) / 255);
}

/**
 * Converts one row of pixels to shades of grey. Only the upper byte of a sample of 16 bits counts.
 * @param target receives the pixels, from `start` in steps of `step`
 */
export function toGrayRow(
  row: Uint8Array,
  count: number,
  layout: SampleLayout,
  { target, start, step }: { readonly target: Uint8Array; readonly start: number; readonly step: number },
): void {
  const { channels, color, alpha, isInverted = false } = layout;
  const sampleAt = sampleReader(row, layout);
  for (let x = 0; x < count; x += 1) {
    const at = x * channels;
    const opacity = alpha === undefined ? 255 : sampleAt(at + alpha);
    target[start + x * step] = grayOf(at, opacity);
  }

  function grayOf(at: number, opacity: number): number {
    const first = sampleAt(at);
    if (typeof color === 'object') return color[first] ?? white;
    if (color === 'gray') {
      const value = isInverted ? 255 - first : first;
      return brightness(value, value, value, opacity);
    }
    const [second, third] = [sampleAt(at + 1), sampleAt(at + 2)];
    if (color === 'rgb') return brightness(first, second, third, opacity);
    const ink = 255 - sampleAt(at + 3);
    return brightness(
      ...([first, second, third].map((value) => ((255 - value) * ink) / 255) as [number, number, number]),
    );
  }
}

/** Returns samples as values up to 255; indexes of a palette stay as they are. */
function sampleReader(row: Uint8Array, { depth, color, isLittleEndian = false }: SampleLayout) {
  if (depth === 8) return (index: number) => row[index] ?? 0;
  if (depth === 16) return (index: number) => row[2 * index + (isLittleEndian ? 1 : 0)] ?? 0;
  const most = 2 ** depth - 1;
  const scale = typeof color === 'object' ? 1 : 255 / most;
  return (index: number) => {
    const bit = index * depth;
    return (((row[bit >> 3] ?? 0) >> (8 - depth - (bit & 7))) & most) * scale;
  };
}
