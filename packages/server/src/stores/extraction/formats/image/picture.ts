import type { ExtractionError } from '../../extraction-error.ts';

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

export type PictureDamaged = (detail: string, cause?: unknown) => ExtractionError;

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
