import { inflateSync } from 'node:zlib';
import { fileDamaged } from '../../extraction-error.ts';
import { brightness, grayPart, mostDecodedPixels, type PictureFile, type SampleLayout, toGrayRow } from './picture.ts';

const damaged = (detail: string, cause?: unknown) => fileDamaged('PNG', detail, cause);
const magic = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const channelsOf: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

interface PngHeader {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  readonly colorType: number;
  readonly isInterlaced: boolean;
}

/**
 * Reads a PNG picture. Its size is checked before its pixels are unpacked, which must be exactly as many as its header
 * says. Texts and other chunks are never unpacked.
 */
export function readPng(bytes: Uint8Array): PictureFile {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (!file.subarray(0, 8).equals(magic)) throw damaged('it has no PNG signature');
  const chunks = readChunks(file);
  const header = readHeader(chunks.find(({ name }) => name === 'IHDR')?.data);
  const { width, height } = header;
  const page = { width, height, dpi: dpiOf(chunks), rotate: 0 } as const;
  if (width * height > mostDecodedPixels) return { pages: [{ ...page, parts: [] }], warnings: [] };
  const packed = Buffer.concat(chunks.filter(({ name }) => name === 'IDAT').map(({ data }) => data));
  const gray = decode(packed, header, layoutOf(header, chunks));
  return { pages: [{ ...page, parts: [grayPart(width, height, gray)] }], warnings: [] };
}

interface Chunk {
  readonly name: string;
  readonly data: Buffer;
}

function readChunks(file: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = 8; at + 12 <= file.length; ) {
    const length = file.readUInt32BE(at);
    const name = file.toString('latin1', at + 4, at + 8);
    if (at + 12 + length > file.length) break;
    if (name === 'IEND') return chunks;
    chunks.push({ name, data: file.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  throw damaged('it is cut off');
}

function readHeader(data: Buffer | undefined): PngHeader {
  if (data === undefined || data.length < 13) throw damaged('its header is missing');
  const [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)];
  const [depth = 0, colorType = 0, , , interlace = 0] = data.subarray(8);
  const isKnown = channelsOf[colorType] !== undefined && [1, 2, 4, 8, 16].includes(depth) && interlace < 2;
  if (width === 0 || height === 0 || !isKnown) throw damaged('its header is invalid');
  return { width, height, depth, colorType, isInterlaced: interlace === 1 };
}

function dpiOf(chunks: readonly Chunk[]): number | undefined {
  const data = chunks.find(({ name }) => name === 'pHYs')?.data;
  return data?.length === 9 && data[8] === 1 ? Math.round(data.readUInt32BE(0) * 0.0254) : undefined;
}

function layoutOf({ depth, colorType }: PngHeader, chunks: readonly Chunk[]): SampleLayout {
  const channels = channelsOf[colorType] ?? 1;
  if (colorType === 3) {
    const palette = chunks.find(({ name }) => name === 'PLTE')?.data ?? Buffer.alloc(0);
    const opacity = chunks.find(({ name }) => name === 'tRNS')?.data ?? Buffer.alloc(0);
    const color = Array.from({ length: Math.floor(palette.length / 3) }, (_, at) => {
      const [red = 0, green = 0, blue = 0] = palette.subarray(3 * at);
      return brightness(red, green, blue, opacity[at] ?? 255);
    });
    return { depth, channels, color };
  }
  const color = colorType === 0 || colorType === 4 ? 'gray' : 'rgb';
  return { depth, channels, color, ...(colorType >= 4 ? { alpha: channels - 1 } : {}) };
}

/** The passes of an interlaced picture: the first pixel and the distances, by column and row. */
const passes = [
  ...[[0, 0, 8, 8] as const, [4, 0, 8, 8] as const, [0, 4, 4, 8] as const, [2, 0, 4, 4] as const],
  ...[[0, 2, 2, 4] as const, [1, 0, 2, 2] as const, [0, 1, 1, 2] as const],
];

function decode(packed: Buffer, { width, height, isInterlaced }: PngHeader, layout: SampleLayout): Uint8Array {
  const bits = layout.channels * layout.depth;
  const parts = (isInterlaced ? passes : [[0, 0, 1, 1] as const]).map(([left, top, dx, dy]) => ({
    left,
    top,
    dx,
    dy,
    columns: Math.max(0, Math.ceil((width - left) / dx)),
    rows: Math.max(0, Math.ceil((height - top) / dy)),
  }));
  const used = parts.filter(({ columns, rows }) => columns > 0 && rows > 0);
  const expected = used.reduce((sum, { columns, rows }) => sum + rows * (1 + Math.ceil((columns * bits) / 8)), 0);
  const raw = inflate(packed, expected);
  const gray = Buffer.allocUnsafeSlow(width * height);
  let at = 0;
  for (const { left, top, dx, dy, columns, rows } of used) {
    const length = Math.ceil((columns * bits) / 8);
    let above = new Uint8Array(length);
    for (let y = 0; y < rows; y += 1) {
      const row = raw.subarray(at + 1, at + 1 + length);
      removeFilter(raw[at] ?? 0, row, { above, distance: Math.max(1, bits >> 3) });
      toGrayRow(row, columns, layout, { target: gray, start: (top + y * dy) * width + left, step: dx });
      above = row;
      at += 1 + length;
    }
  }
  return gray;
}

function inflate(packed: Buffer, expected: number): Buffer<ArrayBuffer> {
  let raw: Buffer<ArrayBuffer>;
  try {
    raw = inflateSync(packed, { maxOutputLength: expected });
  } catch (cause) {
    throw damaged('its pixels cannot be unpacked, or are more than its header says', cause);
  }
  if (raw.length < expected) throw damaged('it has fewer pixels than its header says');
  return raw;
}

/** Restores a row in place. @param distance the bytes between a sample and the same sample of the pixel before */
function removeFilter(
  filter: number,
  row: Uint8Array,
  { above, distance }: { readonly above: Uint8Array; readonly distance: number },
): void {
  if (filter === 0) return;
  for (let at = 0; at < row.length; at += 1) {
    const left = at < distance ? 0 : (row[at - distance] ?? 0);
    const up = above[at] ?? 0;
    const corner = at < distance ? 0 : (above[at - distance] ?? 0);
    const predicted = predict(filter, { left, up, corner });
    row[at] = (row[at] ?? 0) + predicted;
  }
}

function predict(filter: number, { left, up, corner }: { left: number; up: number; corner: number }): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) throw damaged('a row has an unknown filter');
  const estimate = left + up - corner;
  const [a, b, c] = [Math.abs(estimate - left), Math.abs(estimate - up), Math.abs(estimate - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}
