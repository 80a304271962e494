import { type Chunking, purposes, type RecordStage } from '@quartermaster/contract';
import type { CommonDeps } from '../../platform/common-deps.ts';
import { LeaseLost } from '../../platform/jobs/job.ts';
import type { Secret } from '../../platform/secret.ts';
import type { NewChunk } from '../collections/chunks/chunk-repository.ts';
import { readFileName } from '../collections/records/record-file-name.ts';
import type { RecordPasswords } from '../collections/records/record-passwords.ts';
import type { RecordSource } from '../collections/records/record-repository.ts';
import type {
  ExtractedChunk,
  ExtractionOutcome,
  ExtractionSource,
  ExtractionTask,
  Extractor,
  ReportedRow,
} from '../extraction/extraction.ts';
import type { FileAccess } from '../files/file-access.ts';
import type { PageFetcher } from './page-fetcher.ts';
import { type RecordJob, type RecordJobRepository, smallRecordBytes } from './record-job-repository.ts';
import type { RecordMetrics } from './record-metrics.ts';
import { countStoredBytes, type StoredBytes } from './stored-bytes.ts';

export interface ProcessDeps extends Pick<CommonDeps, 'clock' | 'newId'> {
  readonly jobs: RecordJobRepository;
  readonly files: FileAccess;
  readonly extractor: Extractor;
  readonly pages: PageFetcher;
  readonly passwords: Pick<RecordPasswords, 'decrypt'>;
  /** The duration of a lease in milliseconds. */
  readonly leaseMs: number;
  /** Default: no metrics are recorded. */
  readonly metrics?: RecordMetrics | undefined;
  /** Assigns the model in use to a collection without one, so that its chunks are embedded. Default: no model is in use. */
  readonly adoptModel?: ((collectionId: string) => Promise<unknown>) | undefined;
}

export interface Work {
  /** Aborted when the claim is lost, the deadline passes or the service stops. */
  readonly signal: AbortSignal;
  readonly onProgress: (stage: RecordStage, percent: number) => void;
  /** Waits while the disk is nearly full. Called before a batch is written. Default: the disk is never full. */
  readonly untilFreeSpace?: () => Promise<void>;
}

export interface Extraction {
  readonly job: RecordJob;
  readonly source: ExtractionSource;
  readonly password: Secret | null;
  readonly capacity: number;
}

export interface Extracted {
  readonly outcome: ExtractionOutcome;
  /** The number of chunks, including `unwritten`. */
  readonly numChunks: number;
  /** The chunks of a small record, which are stored when it is published. */
  readonly unwritten: readonly NewChunk[];
  /** Pairs left out because the collection already has them. */
  readonly skipped: number;
}

/** Returns the part of an extraction task that depends on the record and the settings of its collection. */
export function taskOf(
  record: RecordSource,
  chunking: Chunking,
): Pick<ExtractionTask, 'splitter' | 'chunkSize' | 'title' | 'fileName' | 'kind' | 'onDuplicate' | 'columns'> {
  return {
    splitter: record.textSplitter,
    chunkSize: chunking.chunk_size ?? null,
    title: record.title,
    fileName: record.fileId === null ? null : readFileName(record.content),
    kind: record.type === purposes.qa_record_file.recordType ? 'qa' : 'text',
    onDuplicate: record.onDuplicate ?? 'keep',
    columns: record.columns ?? null,
  };
}

/**
 * Reads the source and stores its chunks as the next generation. Throws LeaseLost, StoredTooMuch, or the error of the
 * extractor.
 */
export async function extractRecord(deps: ProcessDeps, extraction: Extraction, work: Work): Promise<Extracted> {
  const { job, source, password, capacity } = extraction;
  // An extractor may not propagate what a callback throws, so the error is stored here.
  const stop = new AbortController();
  let failure: unknown;
  let writing = Promise.resolve();
  function write(written: Promise<void>): Promise<void> {
    writing = written.catch((cause: unknown) => {
      failure ??= cause;
      stop.abort();
    });
    return written;
  }
  const store = createStore(deps, { job, stored: countStoredBytes(source), isSmall: isSmall(job, source) }, work);
  const task: ExtractionTask = {
    ...taskOf(job, job.chunking),
    projectId: job.projectId,
    keyId: job.keyId,
    isAccepted: true,
    password,
    source,
    maxChunks: capacity,
    onBatch: (batch) => write(store.writeBatch(batch)),
    onReportedRows: (rows) => write(store.writeRows(rows)),
    onStage: work.onProgress,
  };
  try {
    const outcome = await deps.extractor.extract(task, AbortSignal.any([work.signal, stop.signal]));
    await writing;
    if (failure !== undefined) throw failure;
    return { outcome, ...store.counts, unwritten: store.unwritten() };
  } catch (error) {
    throw failure ?? error;
  } finally {
    // A cancelled extraction does not wait for its last batch, so this waits for it.
    await writing;
  }
}

/** The maximum number of rows written in one transaction. */
const rowsAtOnce = 200;

/**
 * The first batch of a small source is kept until another follows, if it has at most this many chunks. Without another, one
 * transaction writes and publishes it. The bound keeps that transaction short.
 */
const mostUnwritten = 64;

/** When its publication fails, a small source is read again. A web page is not fetched again. */
function isSmall({ type }: RecordJob, source: ExtractionSource): boolean {
  return type !== 'web' && (source.kind === 'text' ? source.text.length : source.bytes) <= smallRecordBytes;
}

function createStore(
  deps: ProcessDeps,
  { job, stored, isSmall }: { job: RecordJob; stored: StoredBytes; isSmall: boolean },
  { signal, untilFreeSpace }: Work,
) {
  const { jobs, clock, newId, metrics } = deps;
  const counts = { numChunks: 0, skipped: 0 };
  const leaseUntil = () => clock.now() + deps.leaseMs;
  let unwritten: readonly NewChunk[] = [];

  async function writeChunks(chunks: readonly NewChunk[]): Promise<void> {
    if (!(await jobs.addChunks(job, chunks, leaseUntil()))) throw new LeaseLost();
  }

  async function writeBatch(batch: readonly ExtractedChunk[]): Promise<void> {
    signal.throwIfAborted();
    const taken =
      job.onDuplicate === 'skip' ? await jobs.findExistingKeys(job, batch.map(rowKeyOf)) : new Set<string>();
    const createdAt = clock.now();
    const chunks = batch
      .filter((chunk) => !taken.has(rowKeyOf(chunk)))
      .map((chunk) => ({ ...chunk, id: newId('chunk'), createdAt }));
    const skipped = batch.filter((chunk) => taken.has(rowKeyOf(chunk)));
    stored.add(chunks, []);
    await untilFreeSpace?.();
    signal.throwIfAborted();
    const isFirst = counts.numChunks === 0;
    if (unwritten.length > 0) await writeChunks(unwritten);
    unwritten = isSmall && isFirst && chunks.length <= mostUnwritten ? chunks : [];
    if (unwritten !== chunks) await writeChunks(chunks);
    metrics?.chunksWritten(chunks.length);
    counts.numChunks += chunks.length;
    counts.skipped += skipped.length;
    await writeRows(skipped.map(toTakenRow));
  }

  async function writeRows(rows: readonly ReportedRow[]): Promise<void> {
    for (let from = 0; from < rows.length; from += rowsAtOnce) {
      await untilFreeSpace?.();
      signal.throwIfAborted();
      const slice = rows.slice(from, from + rowsAtOnce).map((row) => ({ ...row, id: newId('row') }));
      stored.add([], slice);
      if (!(await jobs.addRows(job, slice, leaseUntil()))) throw new LeaseLost();
    }
  }

  return { writeBatch, writeRows, counts, unwritten: () => unwritten };
}

function rowKeyOf(chunk: ExtractedChunk): string {
  return chunk.rowKey ?? '';
}

const excerptLength = 200;

/** Returns the report entry of a pair that another record of the collection already has. */
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
