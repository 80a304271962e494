import {
  brightness,
  grayPart,
  mostDecodedPixels,
  type PictureFile,
  type PicturePage,
  type PicturePart,
  rotationOf,
  type SampleLayout,
  toGrayRow,
} from './picture.ts';
import { colorSpaceOf } from './read-jpeg.ts';
import {
  readTiffDirectories,
  removeDifferences,
  type TiffDirectory,
  type TiffFile,
  tiffCompressions,
  tiffDamaged,
  unpackStrip,
} from './tiff-directory.ts';

/** Numbers of fields. Source: TIFF 6.0. */
const tags = {
  width: 256,
  height: 257,
  depth: 258,
  compression: 259,
  photometric: 262,
  fillOrder: 266,
  stripOffsets: 273,
  orientation: 274,
  channels: 277,
  rowsPerStrip: 278,
  stripBytes: 279,
  resolution: 282,
  planes: 284,
  faxOptions: 292,
  unit: 296,
  predictor: 317,
  palette: 320,
  tileWidth: 322,
  tileHeight: 323,
  tileOffsets: 324,
  tileBytes: 325,
  extra: 338,
  jpegTables: 347,
};

/** Reads the pages of a TIFF file. The size of each is checked before its pixels are unpacked. */
export function readTiff(bytes: Uint8Array): PictureFile {
  const file = readTiffDirectories(bytes);
  let left = 2 * bytes.length;
  const pages = file.directories.map((directory) => {
    const page = readPage(file, directory);
    // Pages may refer to the same bytes; then a small file would become a large one.
    if (page.isPacked) left -= page.parts.reduce((sum, { data }) => sum + data.length, 0);
    if (left < 0) throw tiffDamaged('its pages share their bytes');
    return page;
  });
  return { pages, warnings: [] };
}

function readPage(file: TiffFile, directory: TiffDirectory): PicturePage & { readonly isPacked: boolean } {
  const [width, height] = [directory.first(tags.width) ?? 0, directory.first(tags.height) ?? 0];
  if (width === 0 || height === 0) throw tiffDamaged('a page has no size');
  const page = { width, height, dpi: dpiOf(directory), rotate: rotationOf(directory.first(tags.orientation)) };
  if (width * height > mostDecodedPixels) return { ...page, parts: [], isPacked: false };
  const compression = directory.first(tags.compression) ?? 1;
  const places = placesOf(directory, width, height);
  if (tiffCompressions.fax.includes(compression) || compression === tiffCompressions.jpeg)
    return { ...page, parts: places.map((place) => toPart(file, directory, place)), isPacked: true };
  const gray = unpack(file, directory, { width, height, places });
  return { ...page, parts: [grayPart(width, height, gray)], isPacked: false };
}

function dpiOf(directory: TiffDirectory): number | undefined {
  const resolution = directory.first(tags.resolution);
  const unit = directory.first(tags.unit) ?? 2;
  if (resolution === undefined || unit === 1) return undefined;
  return Math.round(unit === 3 ? resolution * 2.54 : resolution);
}

/** A strip or tile: its place on the page and its bytes in the file. Tiles may reach beyond the page. */
interface Place {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly offset: number;
  readonly bytes: number;
}

function placesOf(directory: TiffDirectory, width: number, height: number): Place[] {
  if ((directory.first(tags.planes) ?? 1) !== 1 && (directory.first(tags.channels) ?? 1) > 1)
    throw tiffDamaged('it stores each colour apart, which is not supported');
  const isTiled = directory.first(tags.tileWidth) !== undefined;
  const columns = isTiled ? (directory.first(tags.tileWidth) ?? width) : width;
  const rows = Math.min(
    (isTiled ? directory.first(tags.tileHeight) : directory.first(tags.rowsPerStrip)) ?? height,
    65_536,
  );
  if (columns === 0 || rows === 0 || columns > 65_536) throw tiffDamaged('its strips have no size');
  const offsets = directory.all(isTiled ? tags.tileOffsets : tags.stripOffsets);
  const sizes = directory.all(isTiled ? tags.tileBytes : tags.stripBytes);
  const across = Math.ceil(width / columns);
  const down = Math.ceil(height / rows);
  if (offsets.length < across * down) throw tiffDamaged('strips of its pixels are missing');
  return Array.from({ length: across * down }, (_, index) => {
    const [left, top] = [(index % across) * columns, Math.floor(index / across) * rows];
    const stripHeight = isTiled ? rows : Math.min(rows, height - top);
    return { left, top, width: columns, height: stripHeight, offset: offsets[index] ?? 0, bytes: sizes[index] ?? 0 };
  });
}

/** The bytes of a strip, with the highest bit of each byte first. */
function packedOf({ bytes }: TiffFile, directory: TiffDirectory, { offset, bytes: length }: Place): Uint8Array {
  const packed = bytes.subarray(offset, offset + length);
  if (packed.length < length || length === 0) throw tiffDamaged('it is cut off');
  return directory.first(tags.fillOrder) === 2 ? packed.map(reversed) : packed;
}

function reversed(byte: number): number {
  let result = 0;
  for (let bit = 0; bit < 8; bit += 1) result |= ((byte >> bit) & 1) << (7 - bit);
  return result;
}

/** A strip of fax codes or JPEG as PDFium reads it. */
function toPart(file: TiffFile, directory: TiffDirectory, place: Place): PicturePart {
  const { left, top, width, height } = place;
  const packed = packedOf(file, directory, place);
  const compression = directory.first(tags.compression) ?? 1;
  if (compression === tiffCompressions.jpeg) {
    const isYcc = directory.first(tags.photometric) === 6;
    const transform = isYcc ? '' : '/DecodeParms << /ColorTransform 0 >>';
    const dictionary = `${colorSpaceOf(directory.first(tags.channels) ?? 1, false)} /BitsPerComponent 8 /Filter /DCTDecode ${transform}`;
    return { left, top, width, height, dictionary, data: withTables(packed, directory.bytes(tags.jpegTables)) };
  }
  const options = directory.first(tags.faxOptions) ?? 0;
  const k = compression === 4 ? -1 : compression === 3 && (options & 1) === 1 ? 1 : 0;
  const isAligned = compression === 2 || (options & 4) !== 0;
  const blackIs1 = directory.first(tags.photometric) === 1;
  const parameters = `/K ${k} /Columns ${width} /Rows ${height} /EncodedByteAlign ${isAligned} /BlackIs1 ${blackIs1}`;
  const dictionary = `/ColorSpace /DeviceGray /BitsPerComponent 1 /Filter /CCITTFaxDecode /DecodeParms << ${parameters} >>`;
  return { left, top, width, height, dictionary, data: packed };
}

/** Puts the tables that strips share in front of a strip. */
function withTables(strip: Uint8Array, tables: Uint8Array | undefined): Uint8Array {
  return tables === undefined || tables.length < 4
    ? strip
    : Buffer.concat([tables.subarray(0, tables.length - 2), strip.subarray(2)]);
}

function unpack(
  file: TiffFile,
  directory: TiffDirectory,
  { width, height, places }: { width: number; height: number; places: readonly Place[] },
): Uint8Array {
  const layout = layoutOf(file, directory);
  const { channels, depth, isLittleEndian = false } = layout;
  const gray = Buffer.alloc(width * height, 255);
  const compression = directory.first(tags.compression) ?? 1;
  for (const place of places) {
    const rowBytes = Math.ceil((place.width * channels * depth) / 8);
    const bytes = unpackStrip(packedOf(file, directory, place), compression, rowBytes * place.height);
    if (directory.first(tags.predictor) === 2) removeDifferences(bytes, { rowBytes, channels, depth, isLittleEndian });
    const columns = Math.min(place.width, width - place.left);
    for (let y = 0; y < place.height && place.top + y < height; y += 1)
      toGrayRow(bytes.subarray(y * rowBytes, (y + 1) * rowBytes), columns, layout, {
        target: gray,
        start: (place.top + y) * width + place.left,
        step: 1,
      });
  }
  return gray;
}

function layoutOf({ isLittleEndian }: TiffFile, directory: TiffDirectory): SampleLayout {
  const depths = directory.all(tags.depth);
  const depth = depths[0] ?? 1;
  const channels = directory.first(tags.channels) ?? 1;
  const photometric = directory.first(tags.photometric) ?? 0;
  if (![1, 2, 4, 8, 16].includes(depth) || depths.some((other) => other !== depth) || channels === 0 || channels > 16)
    throw tiffDamaged('its pixels have a form that is not supported');
  const base = { depth, channels, isLittleEndian };
  if (photometric === 3) return { ...base, color: paletteOf(directory, depth) };
  const color = photometric < 2 ? 'gray' : photometric === 2 ? 'rgb' : photometric === 5 ? 'cmyk' : undefined;
  const needed = color === 'gray' ? 1 : color === 'rgb' ? 3 : 4;
  if (color === undefined || channels < needed) throw tiffDamaged(`its colours (${photometric}) are not supported`);
  const hasAlpha = channels > needed && [1, 2].includes(directory.first(tags.extra) ?? 0) && color !== 'cmyk';
  return { ...base, color, isInverted: photometric === 0, ...(hasAlpha ? { alpha: needed } : {}) };
}

/** The palette has all reds, then all greens, then all blues, of 16 bits each. */
function paletteOf(directory: TiffDirectory, depth: number): number[] {
  const values = directory.all(tags.palette).map((value) => value >> 8);
  const size = 2 ** Math.min(depth, 8);
  return Array.from({ length: size }, (_, at) =>
    brightness(values[at] ?? 0, values[size + at] ?? 0, values[2 * size + at] ?? 0),
  );
}
