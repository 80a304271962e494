import type { RecordFailureDetails } from '@quartermaster/contract';
import { type ExtractionFailureCode, extractionFailureCodes } from './extraction.ts';

/** Thrown by the format readers for a document that cannot be read. It becomes the outcome `failed`. */
export class ExtractionError extends Error {
  readonly code: ExtractionFailureCode;
  /** Facts that help to repair the document or the request. */
  readonly details?: RecordFailureDetails;
  constructor(
    code: ExtractionFailureCode,
    message: string = extractionFailureCodes[code],
    { cause, details }: { cause?: unknown; details?: RecordFailureDetails } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ExtractionError';
    this.code = code;
    if (details !== undefined) this.details = details;
  }
}

export function fileEmpty(): ExtractionError {
  return new ExtractionError('file_empty');
}

export function fileEncrypted(format: string): ExtractionError {
  return new ExtractionError('file_encrypted', `The ${format} file is protected by a password; remove the password.`);
}

/** For formats that are read with a password. */
export function passwordMissing(format: string): ExtractionError {
  return new ExtractionError(
    'file_encrypted',
    `The ${format} file is protected by a password. Send it as \`password\`.`,
  );
}

export function passwordWrong(format: string): ExtractionError {
  return new ExtractionError('password_wrong', `The password does not open the ${format} file. Send another one.`);
}

export function passwordUnsupported(format: string): ExtractionError {
  return new ExtractionError(
    'file_encrypted',
    `The ${format} file is encrypted by a method that is not supported; remove the password.`,
  );
}

/** `detail` is a phrase without a full stop. */
export function fileDamaged(format: string, detail: string, cause?: unknown): ExtractionError {
  return new ExtractionError('file_damaged', `The file is not a readable ${format} document: ${detail}.`, { cause });
}

export function fileTypeMismatch(format: string, found: string): ExtractionError {
  return new ExtractionError('file_type_mismatch', `The file is named as ${format}, but its content is ${found}.`);
}

export function unpackedLimit(detail: string): ExtractionError {
  return new ExtractionError('unpacked_limit', `The document unpacks to more than the limit: ${detail}.`);
}

/** @param remedy sentences that explain why scanned pages were not read */
export function noText(remedy = ''): ExtractionError {
  return new ExtractionError('no_text', [extractionFailureCodes.no_text, remedy].join(' ').trim());
}

export function undecodable(detail: string): ExtractionError {
  return new ExtractionError(
    'undecodable',
    `The character encoding could not be detected without losing text: ${detail}.`,
  );
}

export function noRows(rejected: number): ExtractionError {
  const why = rejected === 0 ? '' : ` ${rejected} rows were refused because their question or answer cannot be used.`;
  return new ExtractionError('no_rows', `The sheet has no question–answer pair.${why}`);
}

export function capacityExceeded(maxChunks: number): ExtractionError {
  return new ExtractionError(
    'capacity_exceeded',
    `The collection can take ${maxChunks} more chunks; this record has more.`,
  );
}
