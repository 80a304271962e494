/**
 * The framing of the channel between the server and a confined process. A frame is four bytes of length (little
 * endian), one byte of kind, and the content. Both sides import this file; it imports nothing.
 */
export const frameKinds = {
  /** A message of the program's protocol. */
  message: 0,
  /** Raw bytes that belong to the preceding message. */
  bytes: 1,
  /** Sent once by the process, without content: its program is loaded and reads the channel. */
  ready: 2,
} as const;
export type FrameKind = (typeof frameKinds)[keyof typeof frameKinds];

export const frameHeaderBytes = 5;

export function encodeFrame(kind: FrameKind, content: Uint8Array | string): Buffer {
  const isText = typeof content === 'string';
  const length = isText ? Buffer.byteLength(content) : content.length;
  const frame = Buffer.allocUnsafe(frameHeaderBytes + length);
  frame.writeUInt32LE(length, 0);
  frame.writeUInt8(kind, 4);
  if (isText) frame.write(content, frameHeaderBytes);
  else frame.set(content, frameHeaderBytes);
  return frame;
}

export interface FrameReaderOptions {
  /** The content may share memory with the bytes read. Copy it to keep it. */
  readonly onFrame: (kind: number, content: Buffer) => void;
  /** The maximum content length that is accepted now. */
  readonly maxBytes: () => number;
  /** Called once when a frame announces a longer content. Nothing more is read. */
  readonly onTooLong: () => void;
}

/** @returns a function that takes the next bytes of the stream */
export function createFrameReader({ onFrame, maxBytes, onTooLong }: FrameReaderOptions): (chunk: Buffer) => void {
  const header = Buffer.alloc(frameHeaderBytes);
  const empty = Buffer.alloc(0);
  let headerHeld = 0;
  let length = 0;
  let content = empty;
  let held = 0;
  let isEnded = false;

  /** @returns the number of bytes that belong to the header */
  function readHeader(bytes: Buffer): number {
    const taken = bytes.copy(header, headerHeld);
    headerHeld += taken;
    if (headerHeld < frameHeaderBytes) return taken;
    length = header.readUInt32LE(0);
    if (length > maxBytes()) {
      isEnded = true;
      onTooLong();
    } else if (length === 0) finish(empty);
    return taken;
  }

  /** @returns the number of bytes that belong to the content */
  function readContent(bytes: Buffer): number {
    const taken = Math.min(bytes.length, length - held);
    if (taken === length) finish(bytes.subarray(0, length));
    else {
      if (held === 0) content = Buffer.allocUnsafeSlow(length);
      held += bytes.copy(content, held, 0, taken);
      if (held === length) finish(content);
    }
    return taken;
  }

  function finish(whole: Buffer): void {
    headerHeld = 0;
    held = 0;
    content = empty;
    onFrame(header.readUInt8(4), whole);
  }

  return (chunk) => {
    for (let at = 0; at < chunk.length && !isEnded; ) {
      const rest = chunk.subarray(at);
      at += headerHeld < frameHeaderBytes ? readHeader(rest) : readContent(rest);
    }
  };
}
