import type { Extension, Locator, OnDuplicate, RowStatus, TextSplitter } from '@quartermaster/contract';

export type { OnDuplicate, RowStatus };

/**
 * Turns the bytes of one document into chunks, in a child process that can be killed: reading the format, splitting,
 * counting tokens and cutting words all happen there.
 */
export interface Extractor {
  /** Chunks and reported rows arrive in batches, in order: the next one when the promise of the one before has resolved. */
  extract(task: ExtractionTask, signal: AbortSignal): Promise<ExtractionOutcome>;
  close(): Promise<void>;
}

export interface ExtractionTask {
  /** Whose document it is: a process that has read for one project never reads for another. */
  readonly projectId: string;
  readonly source: ExtractionSource;
  /** null: the structure of the document decides, 400 tokens at most. Ignored for question–answer sheets. */
  readonly splitter: TextSplitter | null;
  /** Put before every chunk of text, as `title\n\n`, when not empty. */
  readonly title: string;
  /** `text` makes chunks of text; `qa` reads question–answer pairs, one chunk a pair. */
  readonly kind: 'text' | 'qa';
  /** More chunks than this end the extraction with `capacity_exceeded`. */
  readonly maxChunks: number;
  readonly onBatch: (batch: readonly ExtractedChunk[]) => Promise<void>;
  /** Rows that became no chunk, in the order of the sheet; the same backpressure as `onBatch`. Absent: only counted. */
  readonly onReportedRows?: (rows: readonly ReportedRow[]) => Promise<void>;
  /** Of pairs within the file: the first is made with `skip`, the last with `replace`, all with `keep` (the default). */
  readonly onDuplicate?: OnDuplicate;
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
  readonly metadata: Record<string, string>;
  /**
   * For the full-text index, as `words.ts` cuts them, with a blank between: a list of them costs both ends five times as
   * much. A word that occurs n times may stand there once, as word⟨U+0081⟩n.
   */
  readonly words: string;
  /** Of a pair: a digest of its id or its question; the same for the same row of a later upload. */
  readonly rowKey?: string;
}

/** `content` of a pair. */
export function contentOfPair(question: string, answer: string): string {
  return `${question}\n\n${answer}`;
}

/** Why a row of a sheet became no chunk. */
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

/** A row of a sheet that became no chunk. */
export interface ReportedRow {
  /** The name of the sheet; null for CSV, which has none. */
  readonly sheet: string | null;
  /** Row of the sheet, or line of the CSV record, from 1. */
  readonly row: number;
  /** The name of the column that is to blame; null when it is the row. */
  readonly column: string | null;
  readonly code: RowCode;
  /** The cells as read, cut to 200 characters. */
  readonly excerpt: string;
  /** What the row holds, whole, by the names of `RowFields`. */
  readonly fields: RowFields;
}

/** A row as it goes back to whoever sent it, to be corrected. */
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
      readonly report: ExtractionReport | null;
      /** Its process was killed by somebody else: the document need not be the reason. */
      readonly killed?: true;
    }
  | { readonly kind: 'cancelled' };

/** Reasons why a document could not be read; the `error.code` of the record. Documented in docs/reference/errors.md. */
export const extractionFailureCodes = {
  file_empty: 'The file is empty.',
  file_encrypted: 'The file is protected by a password. Remove the protection and upload it again.',
  file_damaged: 'The file is damaged or not a valid document of its format.',
  file_type_mismatch: 'The content does not match the file extension.',
  no_text: 'The document contains no text. It may be a scan or have empty pages.',
  undecodable: 'The character encoding could not be detected without losing text. Save the file as UTF-8.',
  header_missing: 'The sheet has no columns named "question" and "answer".',
  no_rows: 'The sheet contains no question-answer pair.',
  capacity_exceeded: 'The chunks of the record exceed the capacity of the collection.',
  time_limit: 'Reading the document exceeded the time limit.',
  memory_limit: 'Reading the document exceeded the memory limit.',
  unpacked_limit: 'The unpacked document exceeds the size limit.',
  parser_crashed: 'The parser of this format crashed on the document.',
} as const;
export type ExtractionFailureCode = keyof typeof extractionFailureCodes;

/** What was read; on the wire as `report` of the record. */
export interface ExtractionReport {
  readonly format: string;
  /** The reader and its version: what another version read may come out otherwise now. */
  readonly parser?: string;
  readonly encoding?: string;
  /** How sure the encoding is, 0 to 1. */
  readonly encoding_confidence?: number;
  readonly pages?: number;
  readonly pages_without_text?: number;
  /** Of the text that became chunks. */
  readonly characters?: number;
  /** Characters of the file that are no part of the text, by reason: `deleted`, `hidden`, `running_heads`, … */
  readonly dropped?: Readonly<Record<string, number>>;
  readonly tables?: number;
  readonly headings?: number;
  /** What the document calls itself, at most 500 characters. */
  readonly title?: string;
  /** The YAML between `---` lines before a Markdown text, at most 4,000 characters. It is no part of the text. */
  readonly front_matter?: string;
  /** Of all sheets: rows with a value, without headers and titles. */
  readonly rows?: RowCounts;
  /** Whether the columns were named; `assumed_none`: the first row of two columns is a pair like the others. */
  readonly header?: 'found' | 'assumed_none';
  readonly sheets?: readonly SheetReport[];
  /** How a CSV file is written. */
  readonly dialect?: { readonly delimiter: string; readonly quote: string; readonly escape: 'doubled' | 'backslash' };
  readonly warnings: readonly string[];
  readonly milliseconds: number;
  /** The most memory that the process held until then; it may have read other documents before. */
  readonly peak_memory_bytes?: number;
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
  readonly header: 'found' | 'assumed_none' | 'missing' | 'empty';
  /** Where the header stands; the rows above it are titles. */
  readonly header_row?: number;
  /** Names of the columns, as the first row that may be a header has them; at most 40 of at most 64 characters. */
  readonly columns: readonly string[];
  readonly rows: number;
  /** A sheet that its reader does not see by default; it was read like the others. */
  readonly hidden?: boolean;
  /** Rows that are hidden; they were read like the others. */
  readonly hidden_rows?: number;
}
