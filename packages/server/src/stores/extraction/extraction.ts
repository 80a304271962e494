import type {
  Extension,
  Locator,
  OnDuplicate,
  RecordFailureDetails,
  RowStatus,
  SheetColumns,
  TextSplitter,
} from '@quartermaster/contract';
import type { Secret } from '../../platform/secret.ts';
import type { ScanBox } from './page-protocol.ts';

export type { OnDuplicate, RowStatus };

/**
 * Converts the bytes of one document into chunks. A child process, which can be killed, reads the format, splits the
 * text, counts tokens and computes terms.
 */
export interface Extractor {
  /**
   * Delivers chunks and reported rows in batches, in order. The next batch follows when the promise of the previous one
   * has resolved.
   * @throws Problem TOO_MANY_REQUESTS when too many callers wait
   */
  extract(task: ExtractionTask, signal: AbortSignal): Promise<ExtractionOutcome>;
  close(): Promise<void>;
}

export interface ExtractionTask {
  /** The project of the document. A process that has read for one project never reads for another. */
  readonly projectId: string;
  /** The key of the request. Default: none. */
  readonly keyId?: string | null;
  /** Whether the document belongs to a stored record. Such a document is never refused. Default: false, because a caller waits for it. */
  readonly isAccepted?: boolean;
  readonly source: ExtractionSource;
  /** Null: split by the structure of the document, in chunks whose size follows the script. Ignored for question–answer sheets. */
  readonly splitter: TextSplitter | null;
  /** The maximum tokens of a chunk without a splitter. Default: by the script of the document. */
  readonly chunkSize?: number | null;
  /** Prepended to every text chunk as `title\n\n`, when not empty. */
  readonly title: string;
  /** The name of the file, whose words are indexed with each chunk. Default: none. */
  readonly fileName?: string | null;
  /** `text` creates text chunks. `qa` reads question–answer pairs, one chunk for each pair. */
  readonly kind: 'text' | 'qa';
  /** More chunks than this end the extraction with `capacity_exceeded`. */
  readonly maxChunks: number;
  readonly onBatch: (batch: readonly ExtractedChunk[]) => Promise<void>;
  /**
   * Receives rows that did not become a chunk, in the order of the sheet, with the backpressure of `onBatch`. Default:
   * they are only counted.
   */
  readonly onReportedRows?: (rows: readonly ReportedRow[]) => Promise<void>;
  /**
   * The policy for duplicate pairs in the file: `skip` keeps the first, `replace` the last, `keep` (the default) all.
   */
  readonly onDuplicate?: OnDuplicate;
  /** The columns of a sheet that the request names. Default: all are found by their names. */
  readonly columns?: SheetColumns | null;
  /** Opens a PDF or Office file. Default: none. */
  readonly password?: Secret | null;
  /** Reads at most this many scanned pages by OCR. Default: the limit of the service. */
  readonly maxOcrPages?: number;
  readonly onStage: (stage: 'parsing' | 'chunking', percent: number) => void;
}

export type ExtractionSource =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'file';
      readonly extension: Extension;
      readonly bytes: number;
      readonly open: () => AsyncIterable<Uint8Array>;
      /** The charset of a Content-Type header, for pages from the web. */
      readonly charset?: string;
    };

export interface ExtractedChunk {
  readonly ordinal: number;
  readonly content: string;
  readonly question: string | null;
  readonly answer: string | null;
  readonly numTokens: number;
  readonly locator: Locator | null;
  /** Where the chunk stands on scanned pages, one box for each line. */
  readonly boxes?: readonly ScanBox[];
  readonly metadata: Record<string, string>;
  /**
   * The terms for the full-text index, as `search/analysis/tokenizer.ts` returns them, separated by blanks. A list
   * would cost both processes five times as much. A term that occurs n times may appear once, as term⟨U+0081⟩n.
   */
  readonly words: string;
  /** A digest of the pair's id or question. The same row of a later upload has the same digest. */
  readonly rowKey?: string;
}

/** Returns the `content` of a pair. */
export function contentOfPair(question: string, answer: string): string {
  return `${question}\n\n${answer}`;
}

/** Reasons why a row of a sheet did not become a chunk. */
export const rowCodes = {
  empty_question: { status: 'rejected', message: 'The question is empty.' },
  empty_answer: { status: 'rejected', message: 'The answer is empty.' },
  too_long: { status: 'rejected', message: 'Question and answer together are longer than 65,535 characters.' },
  bad_cell: { status: 'rejected', message: 'The cell holds a formula error.' },
  extra_columns: {
    status: 'rejected',
    message: 'The row has more cells than the header has columns. Quote cells that contain the delimiter.',
  },
  duplicate_in_file: { status: 'duplicate', message: 'Another row of the file has the same question or id.' },
  duplicate_in_collection: {
    status: 'duplicate',
    message: 'Another record of the collection has the same question or id.',
  },
} as const satisfies Record<string, { status: RowStatus; message: string }>;
export type RowCode = keyof typeof rowCodes;

/** A row of a sheet that did not become a chunk. */
export interface ReportedRow {
  /** The name of the sheet; null for CSV, which has none. */
  readonly sheet: string | null;
  /** The row of the sheet, or the line of the CSV record, from 1. */
  readonly row: number;
  /** The name of the column at fault; null when the whole row is. */
  readonly column: string | null;
  readonly code: RowCode;
  /** The cells, truncated to 200 characters. */
  readonly excerpt: string;
  /** The complete values of the row. */
  readonly fields: RowFields;
}

/** The values of a row, returned to the sender for correction. */
export interface RowFields {
  readonly question: string;
  readonly answer: string;
  readonly metadata: Readonly<Record<string, string>>;
}

export type ExtractionOutcome =
  | {
      readonly kind: 'extracted';
      readonly numChunks: number;
      readonly rejectedRows: number;
      readonly duplicateRows?: number;
      readonly report: ExtractionReport;
    }
  | {
      readonly kind: 'failed';
      readonly code: ExtractionFailureCode;
      readonly message: string;
      readonly details?: RecordFailureDetails;
      readonly report: ExtractionReport | null;
      /** The process was killed by another process, so the document need not be the reason. */
      readonly killed?: true;
    }
  | { readonly kind: 'cancelled' };

/** Whether a part of the document is missing: rows of a sheet, scanned pages, attachments of a mail, or the end of a file. */
export function isPartial({ rejectedRows, report }: ExtractionOutcome & { readonly kind: 'extracted' }): boolean {
  const isMissing = report.attachments?.some(({ status }) => status !== 'read') ?? false;
  const isLeftOut = report.warnings.some((warning) => /^(?:attachments_left_out|parts_cut):/.test(warning));
  return rejectedRows > 0 || report.ocr?.not_read !== undefined || isMissing || isLeftOut;
}

/** Reasons why a document could not be read; the `error.code` of the record. Documented in docs/reference/errors.md. */
export const extractionFailureCodes = {
  file_empty: 'The file is empty.',
  file_encrypted: 'The file is protected by a password. Send the `password`, or remove the protection.',
  password_wrong: 'The `password` does not open the file.',
  file_damaged: 'The file is damaged or not a valid document of its format.',
  file_type_mismatch: 'The content does not match the file extension.',
  no_text: 'The document contains no text. It may be a scan or have empty pages.',
  undecodable: 'The character encoding could not be detected without losing text. Save the file as UTF-8.',
  columns_not_found:
    'The columns of questions and answers could not be found. `details` proposes columns and lists the accepted names.',
  no_rows: 'The sheet contains no question-answer pair.',
  capacity_exceeded: 'The chunks of the record exceed the capacity of the collection.',
  time_limit: 'Reading the document exceeded the time limit.',
  memory_limit: 'Reading the document exceeded the memory limit.',
  unpacked_limit: 'The unpacked document exceeds the size limit.',
  parser_crashed: 'The parser of this format crashed on the document.',
} as const;
export type ExtractionFailureCode = keyof typeof extractionFailureCodes;

/** Why characters of a file are not part of its text. */
export const droppedReasons = [
  ...(['boilerplate', 'comments', 'deleted', 'embedded', 'footers', 'headers_and_footers'] as const),
  ...(['hidden', 'running_heads', 'table_of_contents'] as const),
] as const;

/** The facts that an extraction reports. The API returns them as `report` of the record. */
export interface ExtractionReport {
  readonly format: string;
  /** The reader and its version. Another version may give another result. */
  readonly parser?: string;
  readonly encoding?: string;
  /** The confidence in the encoding, from 0 to 1. */
  readonly encoding_confidence?: number;
  /** The number of damaged sequences of bytes, which became U+FFFD. Absent when there are none. */
  readonly replaced?: number;
  readonly pages?: number;
  readonly pages_without_text?: number;
  /** The number of form fields with a value in a PDF file. */
  readonly form_fields?: number;
  /** The number of notes that were added to a PDF file. */
  readonly notes?: number;
  /** The pages that were read by OCR, and scanned pages that were not. Absent without a scanned page. */
  readonly ocr?: OcrReport;
  /** The number of characters that became chunks. */
  readonly characters?: number;
  /** Characters of the file that are not part of the text, by reason. */
  readonly dropped?: Readonly<Partial<Record<(typeof droppedReasons)[number], number>>>;
  readonly tables?: number;
  readonly headings?: number;
  /** The title of the document, at most 500 characters. */
  readonly title?: string;
  /** The YAML between `---` lines before a Markdown text, at most 4,000 characters. It is not part of the text. */
  readonly front_matter?: string;
  /** Rows with a value in all sheets, without headers and titles. */
  readonly rows?: RowCounts;
  /** With `none`, the request gave the numbers of the columns, and every row is a pair. */
  readonly header?: 'found' | 'none';
  readonly sheets?: readonly SheetReport[];
  /** The dialect of a CSV file. */
  readonly dialect?: { readonly delimiter: string; readonly quote: string; readonly escape: 'doubled' | 'backslash' };
  /** The attachments of a mail, also those of mails that are attached to it. */
  readonly attachments?: readonly AttachmentReport[];
  readonly warnings: readonly string[];
  readonly milliseconds: number;
  /** The peak memory of the process so far. It may include earlier documents. */
  readonly peak_memory_bytes?: number;
}

export interface AttachmentReport {
  /** The name that the mail gives it. It begins with the names of the mails around it. */
  readonly name: string;
  readonly bytes: number;
  /** `partial`: scanned pages were not read. */
  readonly status: 'read' | 'partial' | 'not_read';
  /** The reason why it was not read, such as `file_encrypted` or `format_not_supported`. */
  readonly code?: string;
  readonly ocr?: OcrReport;
  readonly warnings?: readonly string[];
}

/** The first and the last page of a range, from 1. */
export type PageRange = readonly [number, number];

export interface OcrReport {
  /** The name and the version of the program. */
  readonly engine: string;
  readonly languages: readonly string[];
  readonly pages: readonly PageRange[];
  /** From 0 to 100; null when the pages have no words. */
  readonly mean_confidence: number | null;
  /** Pages whose words are doubtful. */
  readonly low_confidence_pages?: readonly PageRange[];
  /** Pages that were not read. The record is then `partial`. */
  readonly not_read?: readonly { readonly reason: string; readonly pages: readonly PageRange[] }[];
  /** The time of the program for all pages. */
  readonly seconds: number;
}

/** `accepted`, `rejected` and `duplicate` together are `total`. */
export interface RowCounts {
  readonly total: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly duplicate: number;
}

export interface SheetReport {
  /** Null for CSV. */
  readonly name: string | null;
  /** `missing`: the sheet was not read. */
  readonly header: 'found' | 'none' | 'missing' | 'empty';
  /** The row of the header; the rows above it are titles. */
  readonly header_row?: number;
  /** The names of the columns in the first candidate header row; at most 40 names of at most 64 characters. */
  readonly columns: readonly string[];
  readonly rows: number;
  /** The number of hidden rows, which were not read. */
  readonly hidden_rows?: number;
}
