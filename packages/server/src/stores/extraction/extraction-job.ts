import type { Extension } from '@quartermaster/contract';
import type { ExtractedChunk, ExtractionReport, ExtractionTask, ReportedRow } from './extraction.ts';
import type { OcrJob } from './ocr/recognition.ts';

/** The options of one extraction, as sent to the child. */
export interface ExtractionJob
  extends Pick<ExtractionTask, 'kind' | 'splitter' | 'title' | 'maxChunks'>,
    Required<Pick<ExtractionTask, 'chunkSize' | 'fileName' | 'onDuplicate' | 'columns'>> {
  /** `text` means that the bytes are UTF-8 text from the request. */
  readonly format: Extension | 'text';
  readonly charset: string | null;
  /** Opens a PDF or Office file; null without one. */
  readonly password: string | null;
  readonly ocr: OcrJob;
}

/** Receives the results. If a method returns a promise, the reader waits for it before it continues. */
export interface ChunkSink {
  stage(stage: 'parsing' | 'chunking', percent: number): void;
  chunk(chunk: ExtractedChunk): Promise<void> | undefined;
  reportedRow(row: ReportedRow): Promise<void> | undefined;
}

/** A report that is filled while the document is read, so that a failure reports what is known by then. */
export type ReportDraft = { -readonly [name in keyof ExtractionReport]: ExtractionReport[name] } & {
  warnings: string[];
};

export interface ChunkCounts {
  readonly numChunks: number;
  readonly rejectedRows: number;
  readonly duplicateRows: number;
}
