import { purposes, type RecordStage } from '@quartermaster/contract';
import type {
  ExtractedChunk,
  ExtractionOutcome,
  ExtractionSource,
  ExtractionTask,
  Extractor,
  ReportedRow,
} from '../extraction/extraction.ts';
import type { FileAccess } from '../files/file-access.ts';
import type { Clock } from '../kernel/clock.ts';
import type { NewId } from '../kernel/identifier.ts';
import type { NewChunk } from './chunk-repository.ts';
import { inSlices } from './chunk-slices.ts';
import type { RecordEmbeddingDeps } from './embed-record.ts';
import type { PageFetcher } from './page-fetcher.ts';
import type { RecordJob, RecordJobRepository } from './record-job-repository.ts';
import type { RecordMetrics } from './record-metrics.ts';
import type { RecordSource } from './record-repository.ts';

export interface ProcessDeps {
  readonly jobs: RecordJobRepository;
  readonly files: FileAccess;
  readonly extractor: Extractor;
  readonly pages: PageFetcher;
  readonly clock: Clock;
  readonly newId: NewId;
  /** Milliseconds that a lease holds. */
  readonly leaseMs: number;
  /** Absent: nobody reads them. */
  readonly metrics?: RecordMetrics | undefined;
  /** Absent: there are no vectors. */
  readonly embedding?: RecordEmbeddingDeps;
}

export interface Work {
  /** Aborted when the claim is lost, the deadline passes or the service stops. */
  readonly signal: AbortSignal;
  readonly onProgress: (stage: RecordStage, percent: number) => void;
}

/** Thrown when the record was claimed by another, remade or deleted meanwhile: nothing is left to do for it. */
export class ClaimLost extends Error {}

export interface Extraction {
  readonly job: RecordJob;
  readonly source: ExtractionSource;
  readonly room: number;
}

export interface Extracted {
  readonly outcome: ExtractionOutcome;
  /** Chunks that were stored. */
  readonly numChunks: number;
  /** Pairs left out because the collection has them. */
  readonly skipped: number;
}

/** The part of an extraction's task that the record itself says. */
export function taskOf(record: RecordSource): Pick<ExtractionTask, 'splitter' | 'title' | 'kind' | 'onDuplicate'> {
  return {
    splitter: record.textSplitter,
    title: record.title,
    kind: record.type === purposes.qa_record_file.recordType ? 'qa' : 'text',
    onDuplicate: record.onDuplicate ?? 'keep',
  };
}

/** Reads the source and stores what comes out of it, as the next generation. Throws ClaimLost, or what the reader threw. */
export async function extractRecord(deps: ProcessDeps, extraction: Extraction, work: Work): Promise<Extracted> {
  const { job, source, room } = extraction;
  // An extractor need not pass on what a callback throws: it is kept here.
  const stop = new AbortController();
  let failure: unknown;
  let storing = Promise.resolve();
  const store = createStore(deps, job, work.signal);

  function keep(work: Promise<void>): Promise<void> {
    storing = work.catch((error: unknown) => {
      failure ??= error;
      stop.abort();
      throw error;
    });
    return storing;
  }

  const task: ExtractionTask = {
    ...taskOf(job),
    source,
    maxChunks: room,
    onBatch: (chunks) => keep(store.chunks(chunks)),
    onReportedRows: (rows) => keep(store.rows(rows)),
    onStage: work.onProgress,
  };
  try {
    const outcome = await deps.extractor.extract(task, AbortSignal.any([work.signal, stop.signal]));
    if (failure !== undefined) throw failure;
    return { outcome, ...store.counts };
  } catch (error) {
    throw failure ?? error;
  } finally {
    // A cancelled extraction does not wait for the batch it handed over last.
    await storing.catch(() => undefined);
  }
}

/** Rows in one transaction. */
const rowsAtOnce = 200;

function createStore({ jobs, clock, newId, metrics }: ProcessDeps, job: RecordJob, signal: AbortSignal) {
  const counts = { numChunks: 0, skipped: 0 };

  async function storeChunks(batch: readonly ExtractedChunk[]): Promise<void> {
    for (const slice of inSlices(batch)) {
      signal.throwIfAborted();
      const taken = job.onDuplicate === 'skip' ? await jobs.findTaken(job, slice.map(rowKeyOf)) : new Set<string>();
      const now = clock.now();
      const kept = slice.filter((chunk) => !taken.has(rowKeyOf(chunk)));
      const chunks = kept.map((chunk) => toNewChunk(chunk, newId('chunk'), now));
      if (!(await jobs.addChunks(job, chunks))) throw new ClaimLost();
      metrics?.chunksWritten(chunks.length);
      counts.numChunks += chunks.length;
      counts.skipped += slice.length - chunks.length;
      if (taken.size > 0) await storeRows(slice.filter((chunk) => taken.has(rowKeyOf(chunk))).map(toTakenRow));
    }
  }

  async function storeRows(rows: readonly ReportedRow[]): Promise<void> {
    for (let from = 0; from < rows.length; from += rowsAtOnce) {
      signal.throwIfAborted();
      const slice = rows.slice(from, from + rowsAtOnce).map((row) => ({ ...row, id: newId('row') }));
      if (!(await jobs.addRows(job, slice))) throw new ClaimLost();
    }
  }

  return { chunks: storeChunks, rows: storeRows, counts };
}

function rowKeyOf(chunk: ExtractedChunk): string {
  return chunk.rowKey ?? '';
}

const excerptLength = 200;

/** A pair that another record of the collection has. */
export function toTakenRow(chunk: ExtractedChunk): ReportedRow {
  const { question, answer, metadata, locator } = chunk;
  return {
    sheet: locator?.sheet ?? null,
    row: locator?.row ?? 0,
    column: null,
    code: 'duplicate_in_collection',
    excerpt: `${question} | ${answer}`.slice(0, excerptLength).toWellFormed(),
    fields: { question: question ?? '', answer: answer ?? '', metadata },
  };
}

function toNewChunk(chunk: ExtractedChunk, id: string, now: number): NewChunk {
  return {
    id,
    ordinal: chunk.ordinal,
    content: storable(chunk.content),
    question: chunk.question === null ? null : storable(chunk.question),
    answer: chunk.answer === null ? null : storable(chunk.answer),
    numTokens: chunk.numTokens,
    metadata: chunk.metadata,
    locator: chunk.locator,
    createdAt: now,
    words: storable(chunk.words),
    ...(chunk.rowKey === undefined ? {} : { rowKey: chunk.rowKey }),
  };
}

/** PostgreSQL keeps no U+0000; a document may hold some. */
function storable(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
}
