import { purposes, type RecordStage } from '@quartermaster/contract';
import {
  type ChunkBatch,
  type ExtractedChunk,
  type ExtractionOutcome,
  type ExtractionSource,
  type ExtractionTask,
  type Extractor,
  MalformedBatch,
  type ReportedRow,
} from '../extraction/extraction.ts';
import type { FileAccess } from '../files/file-access.ts';
import type { Clock } from '../kernel/clock.ts';
import type { NewId } from '../kernel/identifier.ts';
import type { RecordEmbeddingDeps } from './embed-record.ts';
import { createInOrder } from './in-order.ts';
import type { PageFetcher } from './page-fetcher.ts';
import type { NewChunks, RecordJob, RecordJobRepository } from './record-job-repository.ts';
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
  /** Waits while the disk is nearly full, before a batch is written. Default: always room. */
  readonly untilRoom?: () => Promise<void>;
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

/**
 * Reads the source and stores what comes out of it, as the next generation: one batch is made ready while another is
 * written. Throws ClaimLost, or what the reader threw.
 */
export async function extractRecord(deps: ProcessDeps, extraction: Extraction, work: Work): Promise<Extracted> {
  const { job, source, room } = extraction;
  // An extractor need not pass on what a callback throws: it is kept here.
  const stop = new AbortController();
  let failure: unknown;
  const storing = createInOrder((cause) => {
    // What a reader has packed wrongly is for the extractor to judge.
    if (cause instanceof MalformedBatch) return;
    failure = cause;
    stop.abort();
  });
  const store = createStore(deps, job, work);
  const task: ExtractionTask = {
    ...taskOf(job),
    projectId: job.projectId,
    source,
    maxChunks: room,
    onBatch: (batch) => storing.add(() => store.prepare(batch), store.write),
    onReportedRows: (rows) => storing.add(async () => rows, store.writeRows),
    onStage: work.onProgress,
  };
  try {
    const outcome = await deps.extractor.extract(task, AbortSignal.any([work.signal, stop.signal]));
    await storing.idle();
    if (failure !== undefined) throw failure;
    return { outcome, ...store.counts };
  } catch (error) {
    throw failure ?? error;
  } finally {
    // A cancelled extraction does not wait for the batches it handed over last.
    await storing.idle();
  }
}

/** Rows in one transaction. */
const rowsAtOnce = 200;

/** A batch as it is stored. */
interface Ready {
  readonly chunks: NewChunks;
  /** Its pairs that the collection has. */
  readonly left: readonly ReportedRow[];
}

function createStore({ jobs, clock, newId, metrics }: ProcessDeps, job: RecordJob, { signal, untilRoom }: Work) {
  const counts = { numChunks: 0, skipped: 0 };

  async function prepare(batch: ChunkBatch): Promise<Ready> {
    signal.throwIfAborted();
    const taken = job.onDuplicate === 'skip' ? await jobs.findTaken(job, [...batch].map(rowKeyOf)) : new Set<string>();
    const left = taken.size === 0 ? [] : [...batch].filter((chunk) => taken.has(rowKeyOf(chunk)));
    return { chunks: toNewChunks(batch, { taken, newId, now: clock.now() }), left: left.map(toTakenRow) };
  }

  async function write({ chunks, left }: Ready): Promise<void> {
    await untilRoom?.();
    signal.throwIfAborted();
    if (!(await jobs.addChunks(job, chunks))) throw new ClaimLost();
    metrics?.chunksWritten(chunks.length);
    counts.numChunks += chunks.length;
    counts.skipped += left.length;
    await writeRows(left);
  }

  async function writeRows(rows: readonly ReportedRow[]): Promise<void> {
    for (let from = 0; from < rows.length; from += rowsAtOnce) {
      await untilRoom?.();
      signal.throwIfAborted();
      const slice = rows.slice(from, from + rowsAtOnce).map((row) => ({ ...row, id: newId('row') }));
      if (!(await jobs.addRows(job, slice))) throw new ClaimLost();
    }
  }

  return { prepare, write, writeRows, counts };
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

interface Taking {
  /** Keys of pairs that are left out. */
  readonly taken: ReadonlySet<string>;
  readonly newId: NewId;
  readonly now: number;
}

/** Read out only where some are left out. */
function toNewChunks(batch: ChunkBatch, { taken, newId, now }: Taking): NewChunks {
  if (taken.size === 0) {
    const ids = Array.from({ length: batch.length }, () => newId('chunk'));
    return { batch, ids, createdAt: now, length: batch.length };
  }
  const kept = [...batch].filter((chunk) => !taken.has(rowKeyOf(chunk)));
  return kept.map((chunk) => ({ ...chunk, id: newId('chunk'), createdAt: now }));
}
