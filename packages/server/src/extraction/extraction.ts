import type { Extension, Locator, TextSplitter } from '@quartermaster/contract';

/**
 * Turns the bytes of one document into chunks, in a child process that can be killed: reading the format, splitting,
 * counting tokens and cutting words all happen there.
 */
export interface Extractor {
  /** Chunks arrive in batches, in order; the next batch is asked for when the promise of `onBatch` resolves. */
  extract(task: ExtractionTask, signal: AbortSignal): Promise<ExtractionOutcome>;
  close(): Promise<void>;
}

export interface ExtractionTask {
  readonly source: ExtractionSource;
  /** null: the default splitter (token, 400 with an overlap of 0). Ignored for question–answer sheets. */
  readonly splitter: TextSplitter | null;
  /** Put before every chunk of text, as `title\n\n`, when not empty. */
  readonly title: string;
  /** `text` makes chunks of text; `qa` reads question–answer pairs, one chunk a pair. */
  readonly kind: 'text' | 'qa';
  /** More chunks than this end the extraction with `capacity_exceeded`. */
  readonly maxChunks: number;
  readonly onBatch: (chunks: readonly ExtractedChunk[]) => Promise<void>;
  /** Rows that became no chunk, in the order of the sheet; the same backpressure as `onBatch`. Absent: only counted. */
  readonly onRejectedRows?: (rows: readonly RejectedRow[]) => Promise<void>;
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
  /** For the full-text index, as `words.ts` cuts them. */
  readonly words: readonly string[];
}

/** Why a row of a sheet became no chunk. */
export const rowRejections = {
  empty_question: 'The cell of the question is empty.',
  empty_answer: 'The cell of the answer is empty.',
  too_long: 'Question and answer together are longer than 65,535 characters.',
} as const;
export type RowRejectionCode = keyof typeof rowRejections;

export interface RejectedRow {
  /** The name of the sheet; null for CSV, which has none. */
  readonly sheet: string | null;
  /** Row of the sheet, or line of the CSV record, from 1. */
  readonly row: number;
  readonly code: RowRejectionCode;
  /** The cells as read, cut to 200 characters. */
  readonly excerpt: string;
}

export type ExtractionOutcome =
  | {
      readonly kind: 'extracted';
      readonly numChunks: number;
      readonly rejectedRows: number;
      readonly report: ExtractionReport;
    }
  | {
      readonly kind: 'failed';
      readonly code: ExtractionFailureCode;
      readonly message: string;
      readonly report: ExtractionReport | null;
    }
  | { readonly kind: 'cancelled' };

/** Why a document could not be read; the `error.code` of the record. Documented in docs/reference/errors.md. */
export const extractionFailureCodes = {
  file_empty: 'The file has no bytes.',
  file_encrypted: 'The file is protected by a password.',
  file_damaged: 'The file is not a readable document of its format.',
  file_type_mismatch: 'The content is not of the type the name says.',
  no_text: 'The document was read, but holds no text (a scan, or an empty page).',
  undecodable: 'The character encoding could not be told without losing text.',
  header_missing: 'The sheet has no columns named question and answer.',
  no_rows: 'The sheet has no question–answer pair.',
  capacity_exceeded: 'The collection has no room for the chunks of this record.',
  time_limit: 'Reading took longer than the limit.',
  memory_limit: 'Reading took more memory than the limit.',
  unpacked_limit: 'The document unpacks to more than the limit.',
  parser_crashed: 'The reader of this format crashed on the document.',
} as const;
export type ExtractionFailureCode = keyof typeof extractionFailureCodes;

/** What was read; on the wire as `report` of the record. */
export interface ExtractionReport {
  readonly format: string;
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
  readonly rows?: { readonly total: number; readonly accepted: number; readonly rejected: number };
  readonly warnings: readonly string[];
  readonly milliseconds: number;
}
