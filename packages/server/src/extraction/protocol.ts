import {
  contentOfPair,
  type ExtractedChunk,
  type ExtractionFailureCode,
  type ExtractionReport,
  type ReportedRow,
  rowCodes,
} from './extraction.ts';
import type { ExtractionJob } from './make-chunks.ts';

/** Batches that `next` was not answered to: while one is being stored the next one lies there already. */
export const mostBatchesSent = 2;

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
  | {
      readonly type: 'batch';
      readonly chunks: readonly ExtractedChunk[];
      readonly reportedRows: readonly ReportedRow[];
    }
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
/** A batch is about 1 MiB; one chunk of the longest pair takes a few hundred KiB. */
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
  return toFrame(frameKinds.message, Buffer.from(JSON.stringify(toSent(message))));
}

/** The content of a pair is not sent: question and answer say it. */
function toSent(message: ToChild | FromChild) {
  if (message.type !== 'batch') return message;
  const chunks = message.chunks.map((chunk) => (chunk.question === null ? chunk : { ...chunk, content: undefined }));
  return { ...message, chunks };
}

function putContentBack(chunk: unknown): void {
  if (!isRecord(chunk)) return;
  const { question, answer } = chunk;
  if (isText(question) && isText(answer)) chunk.content = contentOfPair(question, answer);
}

/**
 * Cuts a stream of bytes into frames.
 * @returns a function that takes the next bytes of the stream and throws a RangeError on a frame that is too long.
 */
export function createFrameReader(onFrame: (kind: number, content: Buffer) => void): (bytes: Buffer) => void {
  let pieces: Buffer[] = [];
  let held = 0;
  let needed = headerBytes;
  return (bytes) => {
    pieces.push(bytes);
    held += bytes.length;
    if (held < needed) return;
    let buffer = pieces.length === 1 ? bytes : Buffer.concat(pieces, held);
    for (;;) {
      needed = headerBytes;
      if (buffer.length < headerBytes) break;
      const length = buffer.readUInt32LE(0);
      if (length > longestFrame) throw new RangeError('a frame is too long');
      needed = headerBytes + length;
      if (buffer.length < needed) break;
      onFrame(buffer.readUInt8(4), buffer.subarray(headerBytes, needed));
      buffer = buffer.subarray(needed);
    }
    pieces = buffer.length === 0 ? [] : [buffer];
    held = buffer.length;
  };
}

/**
 * A child may be in the hands of its document: what it says is checked before it is believed.
 * @throws TypeError when it is no message.
 */
export function parseFromChild(content: Buffer): FromChild {
  const message: unknown = JSON.parse(content.toString());
  if (isRecord(message) && Array.isArray(message.chunks)) message.chunks.forEach(putContentBack);
  if (!isFromChild(message)) throw new TypeError('not a message of a child');
  return message;
}

function isFromChild(message: unknown): message is FromChild {
  if (!isRecord(message)) return false;
  if (message.type === 'batch') {
    return listOf(message.chunks, isChunk) && listOf(message.reportedRows, isReportedRow);
  }
  if (message.type === 'done') return isRecord(message.result) && typeof message.cpuSeconds === 'number';
  return message.type === 'ready' || message.type === 'stage';
}

function isChunk(chunk: unknown): boolean {
  if (!isRecord(chunk)) return false;
  const { ordinal, content, numTokens, metadata, words } = chunk;
  return (
    isText(content) && isText(words) && Number.isInteger(ordinal) && Number.isInteger(numTokens) && isRecord(metadata)
  );
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

function listOf(list: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(list) && list.every(isItem);
}

/** Not that of the kernel: the child may read this folder only. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
