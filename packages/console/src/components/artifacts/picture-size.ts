/** The format of a picture and the size that its first bytes declare. */
export interface PictureSize {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  readonly width: number;
  readonly height: number;
}

/** Reads the size without decoding the picture, because decoding takes memory by the size. Undefined for other formats. */
export function readPictureSize(bytes: Uint8Array): PictureSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return readPng(view) ?? readGif(view) ?? readWebp(view) ?? readJpeg(view);
  } catch (error) {
    // The bytes end within the header.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function textAt(view: DataView, at: number, length: number): string {
  return Array.from({ length }, (_, index) => String.fromCharCode(view.getUint8(at + index))).join('');
}

/** W3C PNG, section 11.2.1. */
function readPng(view: DataView): PictureSize | undefined {
  if (textAt(view, 0, 8) !== '\x89PNG\r\n\x1a\n') return undefined;
  return { mediaType: 'image/png', width: view.getUint32(16), height: view.getUint32(20) };
}

/** GIF89a, sections 18 and 20. Browsers enlarge the picture when its first frame is larger than its screen. */
function readGif(view: DataView): PictureSize | undefined {
  if (textAt(view, 0, 4) !== 'GIF8') return undefined;
  let [width, height] = [view.getUint16(6, true), view.getUint16(8, true)];
  for (let at = 13 + tableBytes(view.getUint8(10)); view.getUint8(at) !== 0x3b; ) {
    if (view.getUint8(at) === 0x2c) {
      width = Math.max(width, view.getUint16(at + 1, true) + view.getUint16(at + 5, true));
      height = Math.max(height, view.getUint16(at + 3, true) + view.getUint16(at + 7, true));
      break;
    }
    // An extension: two bytes, then blocks up to an empty one.
    for (at += 2; view.getUint8(at) !== 0; at += 1 + view.getUint8(at));
    at += 1;
  }
  return { mediaType: 'image/gif', width, height };
}

/** The bytes of a colour table, by the flags of a GIF. */
function tableBytes(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

/** RFC 9649, section 2. */
function readWebp(view: DataView): PictureSize | undefined {
  if (textAt(view, 0, 4) !== 'RIFF' || textAt(view, 8, 4) !== 'WEBP') return undefined;
  const mediaType = 'image/webp';
  const kind = textAt(view, 12, 4);
  if (kind === 'VP8 ') {
    return { mediaType, width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
  }
  if (kind === 'VP8L') {
    const bits = view.getUint32(21, true);
    return { mediaType, width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
  }
  const numberAt = (at: number) => view.getUint16(at, true) + 0x10000 * view.getUint8(at + 2);
  return kind === 'VP8X' ? { mediaType, width: numberAt(24) + 1, height: numberAt(27) + 1 } : undefined;
}

/** ITU T.81, B.2.2: the size is in the first start of frame, between segments that name their length. */
function readJpeg(view: DataView): PictureSize | undefined {
  if (view.getUint16(0) !== 0xffd8) return undefined;
  for (let at = 2; view.getUint8(at) === 0xff; ) {
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return { mediaType: 'image/jpeg', width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    // A marker may be preceded by fill bytes.
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
  return undefined;
}
