import type { RecordFailureDetails } from '@quartermaster/contract';
import { parseJson } from '../../../platform/json/parse-json.ts';
import { reportLimits } from '../bound-report.ts';
import { checkBatch, isTextUpTo } from '../chunking/chunk-batch.ts';
import { placeLimits } from '../cut-text.ts';
import {
  type ExtractedChunk,
  type ExtractionFailureCode,
  type ExtractionReport,
  type ReportedRow,
  rowCodes,
} from '../extraction.ts';
import type { ChunkCounts, ExtractionJob } from '../extraction-job.ts';
import { isSendable, type Picture, type Recognition } from '../ocr/recognition.ts';

/** The maximum number of batches without a `next` reply: one is being stored, one is prepared, one is waiting. */
export const mostBatchesSent = 3;

/**
 * The messages between server and child. The server sends a job, the bytes of the document and an empty piece at their
 * end. The child sends stages and batches, and finally `done`. It may send pictures of pages, one at a time and followed
 * by their bytes; the server answers each with `recognized`.
 */
export type ToChild =
  /** `bytes` is the expected length of the document, for which the child allocates its buffer. */
  | { readonly type: 'job'; readonly job: ExtractionJob; readonly bytes: number }
  | { readonly type: 'next' }
  | { readonly type: 'recognized'; readonly recognition: Recognition };

export type FromChild =
  | { readonly type: 'stage'; readonly stage: 'parsing' | 'chunking'; readonly percent: number }
  | PictureMessage
  | { readonly type: 'chunks'; readonly chunks: readonly ExtractedChunk[] }
  | { readonly type: 'rows'; readonly rows: readonly ReportedRow[] }
  | { readonly type: 'done'; readonly result: JobResult; readonly cpuSeconds: number };

export type JobResult =
  | (ChunkCounts & { readonly kind: 'extracted'; readonly report: ExtractionReport })
  | {
      readonly kind: 'failed';
      readonly code: ExtractionFailureCode;
      readonly message: string;
      readonly details?: RecordFailureDetails | undefined;
      readonly report: ExtractionReport;
      /** The reader did not expect this failure, so the child should not read another document. */
      readonly unexpected: boolean;
    };

/**
 * The maximum content of a frame. A batch is about 1 MiB of JSON; a chunk of the longest pair takes a few hundred KiB.
 */
export const longestFrame = 16 * 2 ** 20;

/** The maximum length of the details of a failure as JSON. */
const longestDetails = 64 * 1024;
/** The maximum length of the message of a failure, which the child cuts. */
export const longestMessage = 4_000;

export function encodeMessage(message: ToChild | FromChild): string {
  return JSON.stringify(message);
}

/**
 * Parses and validates a message, because a malicious document may control the child.
 * @throws TypeError when the message is invalid.
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
  if (message.type === 'done') return isResult(message.result) && typeof message.cpuSeconds === 'number';
  // The sizes of a picture are checked when it is collected.
  return message.type === 'stage' || message.type === 'picture';
}

function isResult(result: unknown): boolean {
  if (!isRecord(result) || !isReport(result.report)) return false;
  const { details, message } = result;
  if (message !== undefined && !isTextUpTo(message, longestMessage)) return false;
  if (details === undefined) return true;
  return Array.isArray(details) && details.every(isRecord) && JSON.stringify(details).length <= longestDetails;
}

function isReport(report: unknown): boolean {
  return isRecord(report) && Array.isArray(report.warnings) && JSON.stringify(report).length <= reportLimits.characters;
}

function isReportedRow(row: unknown): boolean {
  if (!isRecord(row) || !isRecord(row.fields)) return false;
  const { question, answer, metadata } = row.fields;
  const isKnown = typeof row.code === 'string' && Object.hasOwn(rowCodes, row.code);
  const isPlaced = (row.sheet === null || isTextUpTo(row.sheet, placeLimits.name)) && Number.isInteger(row.row);
  return isKnown && isPlaced && [question, answer, row.excerpt].every(isText) && isRecord(metadata);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** A copy of a function of the platform, because the child may read only this folder. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** The announcement of a picture. Its bytes follow. */
type PictureMessage = Omit<Picture, 'gray'> & { readonly type: 'picture' };

/**
 * Collects the bytes of one picture after another. A malicious document may control the reader, so the sizes are
 * checked before memory is allocated. Both functions throw a TypeError for what a reader never sends.
 */
export function createPictureCollector(maxPixels: number) {
  let current: { readonly message: Omit<Picture, 'gray'>; readonly gray: Buffer; length: number } | undefined;
  return {
    begin: ({ width, height, dpi }: PictureMessage): void => {
      const message = { width, height, dpi };
      if (current !== undefined || !isSendable(message, maxPixels))
        throw new TypeError('not a picture that may be sent now');
      current = { message, gray: Buffer.allocUnsafeSlow(width * height), length: 0 };
    },
    /** @returns the picture when it is complete */
    add: (bytes: Buffer): Picture | undefined => {
      if (current === undefined || current.length + bytes.length > current.gray.length)
        throw new TypeError('bytes without a picture');
      current.length += bytes.copy(current.gray, current.length);
      if (current.length < current.gray.length) return undefined;
      const { message, gray } = current;
      current = undefined;
      return { ...message, gray };
    },
  };
}
