/**
 * Returns why these bytes cannot be text in any encoding, or undefined when they can. It looks for content that text
 * does not have: more than a few NUL bytes outside of UTF-16 and UTF-32, and more than a few control characters.
 */
export function describeText(sample: Buffer): string | undefined {
  if (sample.length === 0) return undefined;
  if (hasManyNuls(sample)) return isWide(sample) ? undefined : 'binary data (it has NUL bytes)';
  let controls = 0;
  for (let index = 0; index < sample.length; index += 1) controls += oddBytes[sample[index] ?? 0] ?? 0;
  return controls > Math.max(maxControlCharacters, sample.length * mostControlShare)
    ? 'binary data (it has control characters)'
    : undefined;
}

/** Pages of mail programs contain stray NUL bytes, which every browser ignores. */
function hasManyNuls(sample: Buffer): boolean {
  let nuls = 0;
  for (let at = sample.indexOf(0); at !== -1; at = sample.indexOf(0, at + 1)) nuls += 1;
  return nuls > sample.length * mostNulShare;
}

const mostNulShare = 0.001;
const maxControlCharacters = 4;
const mostControlShare = 0.02;

/**
 * Matches control characters that text files do not contain. BS to CR, the shifts of ISO 2022 (SO, SI, ESC) and SUB are
 * allowed.
 */
function isOdd(code: number): boolean {
  return (code < 0x20 && !(code >= 0x08 && code <= 0x0f) && code !== 0x1a && code !== 0x1b) || code === 0x7f;
}

/** Contains 1 for each control byte that text files do not contain. A table is used because every byte of every upload's sample is looked up. */
const oddBytes = Uint8Array.from({ length: 256 }, (_, byte) => (isOdd(byte) ? 1 : 0));

function isWide(sample: Buffer): boolean {
  // ASCII with a few NUL bytes also decodes as UTF-16, but in real UTF-16 of ASCII half of the bytes are NUL.
  const others = sample.filter((byte) => byte !== 0);
  const ascii = others.every((byte) => byte < 0x80);
  if (ascii && others.length > sample.length * 0.6) return false;
  return isUtf32(sample, true) || isUtf32(sample, false) || isUtf16(sample, 'utf-16le') || isUtf16(sample, 'utf-16be');
}

/** Returns whether every unit is an existing code point and, apart from a byte order mark, no control character. */
function isUtf32(sample: Buffer, littleEndian: boolean): boolean {
  const units = Math.floor(sample.length / 4);
  if (units === 0) return false;
  let odd = 0;
  for (let index = 0; index < units; index += 1) {
    const code = littleEndian ? sample.readUInt32LE(index * 4) : sample.readUInt32BE(index * 4);
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) || code === 0) return false;
    if (isOdd(code)) odd += 1;
  }
  return odd <= units * mostControlShare;
}

/** Returns whether the sample decodes without a lone surrogate or NUL. The last unit may be incomplete. */
function isUtf16(sample: Buffer, encoding: 'utf-16le' | 'utf-16be'): boolean {
  const even = sample.subarray(0, sample.length - (sample.length % 2));
  let text: string;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(even, { stream: true });
  } catch {
    return false;
  }
  let odd = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0 || code === 0xfffe || code === 0xffff) return false;
    if (isOdd(code) || (code >= 0xe000 && code <= 0xf8ff)) odd += 1;
  }
  // A line or a word contains some ASCII character, whereas random bytes read as UTF-16 almost never do.
  return odd <= text.length * mostControlShare && /[\t\n\r -~\u3000-\u3002]/.test(text);
}
