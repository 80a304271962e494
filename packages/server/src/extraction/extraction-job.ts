import type { Extension, TextSplitter } from '@quartermaster/contract';
import type { ExtractedChunk, ExtractionReport, OnDuplicate, ReportedRow } from './extraction.ts';

/** What is to be made of the bytes; travels to the child. */
export interface ExtractionJob {
  readonly kind: 'text' | 'qa';
  /** `text`: the bytes are UTF-8 text that was sent as such. */
  readonly format: Extension | 'text';
  readonly charset: string | null;
  readonly splitter: TextSplitter | null;
  readonly title: string;
  readonly maxChunks: number;
  /** Of the pairs of a sheet. */
  readonly onDuplicate: OnDuplicate;
}

/** Takes what is made; a promise means: wait before you make more. */
export interface ChunkSink {
  stage(stage: 'parsing' | 'chunking', percent: number): void;
  chunk(chunk: ExtractedChunk): Promise<void> | undefined;
  reportedRow(row: ReportedRow): Promise<void> | undefined;
}

/** Grows while the document is read, so that a failure reports what was known by then. */
export type ReportDraft = { -readonly [name in keyof ExtractionReport]: ExtractionReport[name] } & {
  warnings: string[];
};

export interface ChunkCounts {
  readonly numChunks: number;
  readonly rejectedRows: number;
  readonly duplicateRows: number;
}
