import type { Extension, TextSplitter } from '@quartermaster/contract';
import { defaultSplitter, separatorDefaults } from './check-splitter.ts';
import { type Document, layOut } from './document.ts';
import type { ExtractedChunk, ExtractionReport, OnDuplicate, ReportedRow } from './extraction.ts';
import { makePairs } from './make-pairs.ts';
import { readDocument } from './read-document.ts';
import { splitBySeparators } from './separator-splitter.ts';
import { type Cut, splitByTokens } from './token-splitter.ts';
import { countTokens } from './tokens.ts';
import { capacityExceeded, fileEmpty, noText } from './unreadable.ts';
import { cutWords } from './words.ts';

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

export interface Made {
  readonly numChunks: number;
  readonly rejectedRows: number;
  readonly duplicateRows: number;
}

/**
 * Reads the bytes and gives every chunk to the sink, in order.
 * @throws Unreadable when the document cannot be read or has too many chunks.
 */
export async function makeChunks(input: {
  job: ExtractionJob;
  bytes: Uint8Array;
  sink: ChunkSink;
  report: ReportDraft;
}) {
  const { job, bytes, sink, report } = input;
  if (bytes.length === 0) throw fileEmpty();
  sink.stage('parsing', 0);
  if (job.kind === 'qa') return makePairs(input);
  const document = await readDocument({
    format: job.format,
    bytes,
    charset: job.charset ?? undefined,
    onProgress: (percent) => sink.stage('parsing', percent),
  });
  take(report, document);
  return makeTexts(document, { job, sink, report });
}

function take(report: ReportDraft, read: Pick<Document, 'facts' | 'warnings'>): void {
  Object.assign(report, read.facts);
  report.warnings.push(...read.warnings);
}

interface Making {
  readonly job: ExtractionJob;
  readonly sink: ChunkSink;
  readonly report: ReportDraft;
}

async function makeTexts(document: Document, { job, sink, report }: Making): Promise<Made> {
  const { text, locate } = layOut(document);
  report.characters = text.length;
  if (text.trim() === '') throw noText();
  const prefix = job.title === '' ? '' : `${job.title.replaceAll('\0', '').toWellFormed()}\n\n`;
  const prefixTokens = countTokens(prefix);
  let numChunks = 0;
  for (const cut of split(text, job.splitter)) {
    if (numChunks === job.maxChunks) throw capacityExceeded(job.maxChunks);
    sink.stage('chunking', Math.floor((cut.start * 100) / text.length));
    const content = prefix + text.slice(cut.start, cut.end);
    const taken = sink.chunk({
      ordinal: numChunks,
      content,
      question: null,
      answer: null,
      numTokens: prefixTokens + cut.numTokens,
      locator: locate(cut.start, cut.end),
      metadata: {},
      words: cutWords(content),
    });
    numChunks += 1;
    if (taken !== undefined) await taken;
  }
  return { numChunks, rejectedRows: 0, duplicateRows: 0 };
}

function split(text: string, splitter: TextSplitter | null): Iterable<Cut> {
  const { type, separators = [], ...sizes } = splitter ?? { ...defaultSplitter };
  const size = sizes.chunk_size ?? separatorDefaults.chunk_size;
  const overlap = sizes.chunk_overlap ?? separatorDefaults.chunk_overlap;
  return type === 'token'
    ? splitByTokens(text, { size, overlap })
    : splitBySeparators(text, separators, { size, overlap });
}
