import iconv from 'iconv-lite';
import { codePage } from './code-pages.ts';

/** Decodes text in pieces. Bytes that are invalid in the encoding become U+FFFD. */
export interface PieceDecoder {
  /** Without `stream`, these are the last bytes, and an incomplete character is invalid. */
  decode(bytes: Uint8Array, options: { readonly stream: boolean }): string;
}

/**
 * Encodings that iconv-lite decodes. `TextDecoder` reads extension bytes of `euc-kr` and `euc-jp` as control characters
 * instead of refusing or decoding them, and gives private use characters for Hong Kong's `big5`.
 */
const iconvNames: Readonly<Record<string, string>> = { 'euc-kr': 'cp949', 'euc-jp': 'euc-jp', big5: 'big5hkscs' };

/** @returns undefined for an unsupported encoding */
export function createDecoder(encoding: string): PieceDecoder | undefined {
  if (encoding === 'utf-32le' || encoding === 'utf-32be') return createUtf32Decoder(encoding === 'utf-32le');
  if (encoding === 'iso-2022-kr') return createKoreanDecoder();
  const iconvName = iconvNames[encoding];
  if (iconvName !== undefined) return createIconvDecoder(iconvName);
  const page = codePage(encoding);
  if (page !== undefined) return { decode: (bytes) => page(bytes) };
  try {
    return new TextDecoder(encoding);
  } catch {
    return undefined;
  }
}

const pieceBytes = 1024 * 1024;

/** Decodes in pieces, so that a long text is never held as a whole. Line ends stay unchanged. */
export function* decodePieces(
  bytes: Uint8Array,
  { encoding, markBytes }: { readonly encoding: string; readonly markBytes: number },
): Generator<string> {
  const decoder = createDecoder(encoding);
  for (let at = markBytes; at < bytes.length; at += pieceBytes) {
    const stream = at + pieceBytes < bytes.length;
    yield decoder?.decode(bytes.subarray(at, at + pieceBytes), { stream }) ?? '';
  }
}

/** Labels that `TextDecoder` does not know. */
const labels: Readonly<Record<string, string>> = {
  cp949: 'euc-kr',
  ms949: 'euc-kr',
  uhc: 'euc-kr',
  cp932: 'shift_jis',
  ms932: 'shift_jis',
  cp936: 'gb18030',
  ms936: 'gb18030',
  cp950: 'big5',
  cp500: 'ibm500',
  cp437: 'ibm437',
  cp850: 'ibm850',
  cp852: 'ibm852',
  cp855: 'ibm855',
};

/** Returns the name of the encoding for a label of a Content-Type header or a page; undefined for an unknown label. */
export function encodingOfLabel(label: string): string | undefined {
  const name = label.trim().toLowerCase();
  const known = Object.hasOwn(labels, name) ? labels[name] : undefined;
  if (known !== undefined) return known;
  if (codePage(name) !== undefined) return name;
  try {
    const { encoding } = new TextDecoder(name);
    // gb18030 contains GBK, and pages that declare GBK use it.
    return encoding === 'gbk' ? 'gb18030' : encoding;
  } catch {
    return undefined;
  }
}

function createIconvDecoder(name: string): PieceDecoder {
  const decoder = iconv.getDecoder(name);
  return {
    decode: (bytes, { stream }) => {
      const text = decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
      return stream ? text : text + (decoder.end() ?? '');
    },
  };
}

function createUtf32Decoder(little: boolean): PieceDecoder {
  let rest = Buffer.alloc(0);
  return {
    decode: (bytes, { stream }) => {
      const buffer = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
      const whole = buffer.length - (buffer.length % 4);
      rest = Buffer.from(buffer.subarray(whole));
      const parts: string[] = [];
      for (let offset = 0; offset < whole; offset += 4) {
        const point = view.getUint32(offset, little);
        const isCharacter = point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
        parts.push(isCharacter ? String.fromCodePoint(point) : '\ufffd');
      }
      if (!stream && rest.length > 0) parts.push('\ufffd');
      return parts.join('');
    },
  };
}

const announcement = /\x1b\$\)C/g;

/** Between the bytes "shift out" and "shift in", EUC-KR characters appear without their highest bits (RFC 1557). */
function createKoreanDecoder(): PieceDecoder {
  const korean = createIconvDecoder('cp949');
  let shifted = false;
  return {
    decode: (bytes, options) => {
      const out: number[] = [];
      for (const byte of Buffer.from(Buffer.from(bytes).toString('latin1').replace(announcement, ''), 'latin1')) {
        if (byte === 0x0e) shifted = true;
        else if (byte === 0x0f) shifted = false;
        // Invalid in both encodings.
        else if (byte > 0x7f) out.push(0xff);
        else out.push(shifted && byte > 0x20 ? byte | 0x80 : byte);
        if (byte === 0x0a) shifted = false;
      }
      return korean.decode(Uint8Array.from(out), options);
    },
  };
}
