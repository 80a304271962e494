import iconv from 'iconv-lite';

/** Decodes text in pieces. Bytes that are invalid in the encoding become U+FFFD. */
export interface PieceDecoder {
  /** Without `stream`, these are the last bytes, and an incomplete character is invalid. */
  decode(bytes: Uint8Array, options: { readonly stream: boolean }): string;
}

/**
 * Encodings that iconv-lite decodes. `TextDecoder` does not know most of them. It reads extension bytes of `euc-kr` and `euc-jp` as control characters
 * instead of refusing or decoding them, and gives private use characters for Hong Kong's `big5`.
 */
const iconvNames: Readonly<Record<string, string>> = {
  'euc-kr': 'cp949',
  'euc-jp': 'euc-jp',
  big5: 'big5hkscs',
  'utf-32le': 'utf-32le',
  'utf-32be': 'utf-32be',
  ibm437: 'cp437',
  ibm850: 'cp850',
  ibm852: 'cp852',
  ibm855: 'cp855',
  'x-mac-ce': 'maccenteuro',
  tcvn: 'tcvn',
  viscii: 'viscii',
  'kz-1048': 'rk1048',
  ptcp154: 'pt154',
  'koi8-t': 'koi8t',
};

/** @returns undefined for an unsupported encoding */
export function createDecoder(encoding: string): PieceDecoder | undefined {
  if (encoding === 'iso-2022-kr') return createKoreanDecoder();
  if (encoding === 'hz-gb-2312') return createHzDecoder();
  const iconvName = iconvNames[encoding];
  if (iconvName !== undefined) return createIconvDecoder(iconvName);
  if (encoding === 'ibm500') return { decode: (bytes) => Array.from(bytes, (byte) => ebcdic[byte]).join('') };
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
  hz: 'hz-gb-2312',
  'hz-gb-2312': 'hz-gb-2312',
  'tcvn5712-1': 'tcvn',
  rk1048: 'kz-1048',
};

/** Returns the name of the encoding for a label of a Content-Type header or a page; undefined for an unknown label. */
export function encodingOfLabel(label: string): string | undefined {
  const name = label.trim().toLowerCase();
  const known = Object.hasOwn(labels, name) ? labels[name] : undefined;
  if (known !== undefined) return known;
  if (name === 'ibm500' || Object.hasOwn(iconvNames, name)) return name;
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
      // In UTF-32, half of a surrogate pair is a code of its own.
      return (stream ? text : text + (decoder.end() ?? '')).toWellFormed();
    },
  };
}

/** The characters of all 256 bytes in EBCDIC, which mainframes use. Source: the codec `cp500` of Python. */
const ebcdic = [
  '\x00\x01\x02\x03\x9c\x09\x86\x7f\x97\x8d\x8e\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x9d\x85\x08\x87\x18\x19\x92\x8f\x1c\x1d\x1e\x1f\x80\x81\x82\x83\x84\x0a\x17\x1b\x88\x89\x8a\x8b\x8c\x05\x06\x07\x90\x91\x16\x93\x94\x95\x96\x04\x98\x99\x9a\x9b\x14\x15\x9e\x1a',
  ' \u00a0âäàáãåçñ[.<(+!&éêëèíîïìß]$*);^-/ÂÄÀÁÃÅÇÑ¦,%_>?øÉÊËÈÍÎÏÌ`:#@\'="Øabcdefghi«»ðýþ±°jklmnopqrªºæ¸Æ¤',
  'µ~stuvwxyz¡¿ÐÝÞ®¢£¥·©§¶¼½¾¬|¯¨´×{ABCDEFGHI\u00adôöòóõ}JKLMNOPQR¹ûüùúÿ\\÷STUVWXYZ²ÔÖÒÓÕ0123456789³ÛÜÙÚ\x9f',
].join('');

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

const tilde = 0x7e;

/** Between `~{` and `~}`, GB 2312 characters appear without their highest bits; `~~` is a tilde (RFC 1843). */
function createHzDecoder(): PieceDecoder {
  const chinese = new TextDecoder('gb18030');
  let shifted = false;
  let escaped = false;
  /** The first half of a character was read. */
  let isHalf = false;
  return {
    decode: (bytes, options) => {
      const out: number[] = [];
      for (const byte of bytes) {
        if (escaped) {
          escaped = false;
          if (byte === 0x7b || byte === 0x7d) shifted = byte === 0x7b;
          else if (byte !== 0x0a) out.push(...(byte === tilde ? [tilde] : [tilde, byte]));
        } else if (byte === tilde && !isHalf) escaped = true;
        else {
          isHalf = shifted && byte > 0x20 && !isHalf;
          out.push(shifted && byte > 0x20 ? byte | 0x80 : byte);
        }
      }
      return chinese.decode(Uint8Array.from(out), options);
    },
  };
}
