/** A position in bytes, which advances while numbers are read. */
export interface ByteCursor {
  readonly bytes: Uint8Array;
  at: number;
}

/**
 * Reads a whole number from 0 to 2^53 - 1: seven bits a byte, the lowest first; the highest bit says that another byte
 * follows. Beyond the end of the bytes it reads 0 and still advances, so that the caller can compare `at` with their length.
 */
export function readVarint(cursor: ByteCursor): number {
  const { bytes } = cursor;
  let byte = bytes[cursor.at++] ?? 0;
  let value = byte & 0x7f;
  for (let unit = 0x80; byte >= 0x80; unit *= 0x80) {
    byte = bytes[cursor.at++] ?? 0;
    value += (byte & 0x7f) * unit;
  }
  return value;
}

/** Bytes that grow as they are written. */
export interface ByteWriter {
  readonly length: number;
  /** The first `length` bytes are those written. The next write may replace them. */
  readonly bytes: Uint8Array;
  writeVarint(value: number): void;
  writeBytes(bytes: Uint8Array, from: number, to: number): void;
  /** Appends all bytes of another writer. */
  writeAll(other: ByteWriter): void;
  /** Returns a copy of the bytes and begins again with none. */
  take(): Uint8Array;
  /** Begins again with no bytes. */
  clear(): void;
}

/** The maximum number of bytes that a number takes. */
const longestVarint = 8;
/** Up to this number of bytes, a loop copies faster than a call that first creates a view. */
const mostCopiedSingly = 64;

export function createByteWriter(): ByteWriter {
  let bytes = new Uint8Array(4096);
  let length = 0;
  function reserve(count: number): void {
    if (length + count <= bytes.length) return;
    const larger = new Uint8Array(Math.max(2 * bytes.length, length + count));
    larger.set(bytes.subarray(0, length));
    bytes = larger;
  }
  function append(source: Uint8Array, from: number, to: number): void {
    reserve(to - from);
    if (to - from > mostCopiedSingly) bytes.set(source.subarray(from, to), length);
    else for (let at = from; at < to; at++) bytes[length + at - from] = source[at] as number;
    length += to - from;
  }
  return {
    get length() {
      return length;
    },
    get bytes() {
      return bytes;
    },
    writeVarint(value) {
      reserve(longestVarint);
      if (value < 0x80) {
        bytes[length++] = value;
        return;
      }
      let rest = value;
      while (rest >= 0x80) {
        bytes[length++] = (rest % 0x80) + 0x80;
        rest = Math.floor(rest / 0x80);
      }
      bytes[length++] = rest;
    },
    writeBytes: append,
    writeAll: (other) => append(other.bytes, 0, other.length),
    take() {
      const taken = bytes.slice(0, length);
      length = 0;
      return taken;
    },
    clear() {
      length = 0;
    },
  };
}
