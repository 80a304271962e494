import { analyse } from 'chardet';
import { fileEmpty, undecodable } from './unreadable.ts';

export interface DecodedText {
  /** Without a byte order mark; line ends are `\n`. */
  readonly text: string;
  /** A label of the Encoding Standard, or `utf-32le`, `utf-32be`. */
  readonly encoding: string;
}

/**
 * Decodes without losing a character, or throws `undecodable`: byte order mark, UTF-16 by the parity of its zero bytes,
 * UTF-8 over the whole text, the encoding somebody declared, the likeliest guess. UTF-8 goes before a declaration, as
 * text in another encoding is hardly ever valid UTF-8, but declarations are often wrong.
 */
export function decodeText(bytes: Uint8Array, declared: readonly (string | undefined)[] = []): DecodedText {
  if (bytes.length === 0) throw fileEmpty();
  const decoded = decodeMarked(bytes) ?? decodeUnmarked(bytes, declared);
  if (decoded === null) throw undecodable('no known encoding fits all its bytes');
  if (isBinary(decoded.text)) throw undecodable('it holds control characters, as binary data does');
  return { ...decoded, text: decoded.text.replace(/\r\n?/g, '\n') };
}

function decodeMarked(bytes: Uint8Array): DecodedText | null {
  const mark = Buffer.from(bytes.subarray(0, 4)).toString('hex');
  if (mark.startsWith('efbbbf')) return decode(bytes, 'utf-8');
  if (mark === 'fffe0000' && bytes.length % 4 === 0) return decodeUtf32(bytes.subarray(4), 'utf-32le');
  if (mark === '0000feff') return decodeUtf32(bytes.subarray(4), 'utf-32be');
  if (mark.startsWith('fffe')) return decode(bytes, 'utf-16le');
  if (mark.startsWith('feff')) return decode(bytes, 'utf-16be');
  return null;
}

function decodeUnmarked(bytes: Uint8Array, declared: readonly (string | undefined)[]): DecodedText | null {
  const wide = wideEncoding(bytes);
  const first = wide ?? (looksLikeIso2022Jp(bytes) ? 'iso-2022-jp' : undefined);
  const certain = [first, 'utf-8', ...declared].filter((label) => label !== undefined);
  for (const label of certain) {
    const decoded = decode(bytes, label);
    if (decoded !== null && !isBinary(decoded.text)) return decoded;
  }
  return decodeByGuess(bytes);
}

/** Null when the label is unknown or a byte does not fit. */
function decode(bytes: Uint8Array, label: string): DecodedText | null {
  if (label === 'utf-32le' || label === 'utf-32be') return decodeUtf32(bytes, label);
  try {
    const decoder = new TextDecoder(label, { fatal: true });
    return { text: decoder.decode(bytes), encoding: decoder.encoding };
  } catch {
    return null;
  }
}

const sampleBytes = 4096;

/** Text in UTF-16 or UTF-32 without a mark has zero bytes at every second (three of four) places. */
function wideEncoding(bytes: Uint8Array): string | undefined {
  const sample = bytes.subarray(0, sampleBytes);
  const zeros = [0, 0, 0, 0];
  for (const [index, byte] of sample.entries()) if (byte === 0) zeros[index % 4] = (zeros[index % 4] ?? 0) + 1;
  const share = zeros.map((count) => (count * 4) / sample.length);
  const [a = 0, b = 0, c = 0, d = 0] = share;
  const many = 0.4;
  if (a > many && b > many && c < 0.1 + d) return d > many ? undefined : 'utf-32be';
  if (c > many && d > many && a < 0.1) return 'utf-32le';
  if (b > many && d > many && a < 0.1) return 'utf-16le';
  if (a > many && c > many && b < 0.1) return 'utf-16be';
  return undefined;
}

function decodeUtf32(bytes: Uint8Array, encoding: 'utf-32le' | 'utf-32be'): DecodedText | null {
  if (bytes.length % 4 !== 0) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const parts: string[] = [];
  for (let offset = 0; offset < bytes.length; offset += 4) {
    const point = view.getUint32(offset, encoding === 'utf-32le');
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return null;
    parts.push(String.fromCodePoint(point));
  }
  return { text: parts.join(''), encoding };
}

/** It is all ASCII, so it would pass as UTF-8; its escape sequences are what tells it. */
function looksLikeIso2022Jp(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.subarray(0, sampleBytes)).toString('latin1');
  return /\x1b\$[@B]/.test(text);
}

const guessBytes = 256 * 1024;

/** The guesser names the ISO part; the Windows code page has more characters at nearly the same places. */
const siblings: Record<string, string> = {
  'ISO-8859-1': 'windows-1252',
  'ISO-8859-2': 'windows-1250',
  'ISO-8859-6': 'windows-1256',
  'ISO-8859-7': 'windows-1253',
  'ISO-8859-8': 'windows-1255',
  'ISO-8859-9': 'windows-1254',
};

/** Of the guesses that fit all bytes, the likeliest without control characters. */
function decodeByGuess(bytes: Uint8Array): DecodedText | null {
  let fallback: DecodedText | null = null;
  for (const { name } of analyse(bytes.subarray(0, guessBytes))) {
    for (const label of [name, siblings[name]]) {
      const decoded = label === undefined ? null : decode(bytes, label);
      if (decoded === null) continue;
      if (!/[\x80-\x9f]/.test(decoded.text)) return decoded;
      fallback ??= decoded;
    }
  }
  return fallback;
}

/** Text has next to no control characters but blanks, line ends, form feeds and escapes. */
function isBinary(text: string): boolean {
  const sample = text.slice(0, sampleBytes);
  const controls = sample.match(/[\0-\x08\x0e-\x1a\x1c-\x1f]/g)?.length ?? 0;
  return controls > sample.length / 20;
}
