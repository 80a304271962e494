import { createRequire } from 'node:module';

/** Decoded pixels: four bytes each, red, green, blue and alpha. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Buffer;
}

// the types from the documentation of pngjs, which has none
const { PNG } = createRequire(import.meta.url)('pngjs') as { PNG: { sync: { read(bytes: Buffer): Pixels } } };

/** Decodes a PNG. @throws Error when it is not a PNG */
export function readPng(bytes: Buffer): Pixels {
  return PNG.sync.read(bytes);
}

export function pixelAt({ width, data }: Pixels, x: number, y: number): number[] {
  return [...data.subarray((y * width + x) * 4, (y * width + x) * 4 + 4)];
}

/** The number of pixels that are darker than half, judged by their red. */
export function countDark({ data }: Pixels): number {
  return data.filter((value, at) => at % 4 === 0 && value < 128).length;
}
