import { parseJson } from '../kernel/parse-json.ts';
import { checkBatch } from './chunk-batch.ts';
import {
  type ExtractedChunk,
  type ExtractionFailureCode,
  type ExtractionReport,
  type ReportedRow,
  rowCodes,
} from './extraction.ts';
import type { ExtractionJob } from './make-chunks.ts';

/** Batches that `next` was not answered to: one is being stored, one made ready for that, one lies there already. */
export const mostBatchesSent = 3;

/**
 * What server and child say to each other over two pipes. Server: a job, the bytes of the document, an empty piece at
 * their end. Child: stages and batches; at last `done`.
 */
export type ToChild =
  /** `bytes`: as long as the document should be, so that it is put where it stays. */
  { readonly type: 'job'; readonly job: ExtractionJob; readonly bytes: number } | { readonly type: 'next' };

export type FromChild =
  | { readonly type: 'ready' }
  | { readonly type: 'stage'; readonly stage: 'parsing' | 'chunking'; readonly percent: number }
  | { readonly type: 'chunks'; readonly chunks: readonly ExtractedChunk[] }
  | { readonly type: 'rows'; readonly rows: readonly ReportedRow[] }
  | { readonly type: 'done'; readonly result: JobResult; readonly cpuSeconds: number };

export type JobResult =
  | {
      readonly kind: 'extracted';
      readonly numChunks: number;
      readonly rejectedRows: number;
      readonly duplicateRows: number;
      readonly report: ExtractionReport;
    }
  | {
      readonly kind: 'failed';
      readonly code: ExtractionFailureCode;
      readonly message: string;
      readonly report: ExtractionReport;
      /** The failure was none that a reader foresaw: the child should not read another document. */
      readonly unexpected: boolean;
    };

export const frameKinds = { message: 0, bytes: 1 } as const;
export type FrameKind = (typeof frameKinds)[keyof typeof frameKinds];

const headerBytes = 5;
/** A batch is about 1 MiB of JSON; one chunk of the longest pair takes a few hundred KiB. */
const longestFrame = 16 * 2 ** 20;

/** Four bytes length (little endian), one byte kind, then the content. */
export function toFrame(kind: FrameKind, content: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(headerBytes + content.length);
  frame.writeUInt32LE(content.length, 0);
  frame.writeUInt8(kind, 4);
  frame.set(content, headerBytes);
  return frame;
}

export function toMessageFrame(message: ToChild | FromChild): Buffer {
  return toFrame(frameKinds.message, Buffer.from(JSON.stringify(message)));
}

/**
 * Cuts a stream of bytes into frames, each in an ArrayBuffer of its own.
 * @returns a function that takes the next bytes of the stream and throws a RangeError on a frame that is too long.
 */
export function createFrameReader(
  onFrame: (kind: number, content: Buffer<ArrayBuffer>) => void,
): (bytes: Buffer) => void {
  const header = Buffer.alloc(headerBytes);
  let headerHeld = 0;
  let content = Buffer.alloc(0);
  let held = 0;

  /** @returns how many of the bytes belong to the header */
  function readHeader(bytes: Buffer): number {
    const taken = bytes.copy(header, headerHeld);
    headerHeld += taken;
    if (headerHeld < headerBytes) return taken;
    const length = header.readUInt32LE(0);
    if (length > longestFrame) throw new RangeError('a frame is too long');
    content = Buffer.allocUnsafeSlow(length);
    held = 0;
    return taken;
  }
  return (bytes) => {
    for (let at = 0; at < bytes.length; ) {
      if (headerHeld < headerBytes) at += readHeader(bytes.subarray(at));
      const taken = headerHeld < headerBytes ? 0 : bytes.copy(content, held, at);
      at += taken;
      held += taken;
      if (headerHeld < headerBytes || held < content.length) continue;
      headerHeld = 0;
      onFrame(header.readUInt8(4), content);
    }
  };
}

/**
 * A child may be in the hands of its document: what it says is checked before it is believed.
 * @throws TypeError when it is no message.
 */
export function parseFromChild(content: Buffer): FromChild {
  const message: unknown = parseJson(content.toString());
  if (isRecord(message) && message.type === 'chunks') return { type: 'chunks', chunks: checkBatch(message.chunks) };
  if (!isFromChild(message)) throw new TypeError('not a message of a child');
  return message;
}

function isFromChild(message: unknown): message is FromChild {
  if (!isRecord(message)) return false;
  if (message.type === 'rows') return Array.isArray(message.rows) && message.rows.every(isReportedRow);
  if (message.type === 'done') return isRecord(message.result) && typeof message.cpuSeconds === 'number';
  return message.type === 'ready' || message.type === 'stage';
}

function isReportedRow(row: unknown): boolean {
  if (!isRecord(row) || !isRecord(row.fields)) return false;
  const { question, answer, metadata } = row.fields;
  const isKnown = typeof row.code === 'string' && Object.hasOwn(rowCodes, row.code);
  return isKnown && Number.isInteger(row.row) && [question, answer, row.excerpt].every(isText) && isRecord(metadata);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Not that of the kernel: the child may read this folder only. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
