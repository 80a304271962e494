import type { RecordStage } from '@quartermaster/contract';
import type { Clock } from '../kernel/clock.ts';
import type { DiskSpace } from '../kernel/disk/disk-space.ts';
import type { Logger } from '../kernel/log/logger.ts';
import type { Embedder } from '../search/embedding/embedder.ts';
import type { VectorRepository } from '../search/vector-repository.ts';
import { type EmbeddingEnd, embedMissing } from './embed-chunks.ts';
import type { RecordJob } from './record-job-repository.ts';

export interface RecordEmbeddingDeps {
  readonly embedder: Embedder;
  readonly vectors: VectorRepository;
  readonly space?: DiskSpace | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * The maximum time a record waits for its vectors, in milliseconds. Afterwards it becomes ready without them; the
   * backfill adds them.
   */
  readonly maxVectorWaitMs: number;
}

/** The embedding section in the report of a record. */
export interface EmbeddingReport {
  readonly model: string;
  /** Chunks that have a vector. */
  readonly chunks: number;
  /** Chunks that wait for their vector. */
  readonly pending: number;
  /** Chunks whose text the model refuses. Until the collection is re-embedded, only full-text search finds them. */
  readonly refused: number;
}

export interface RecordEmbedding {
  readonly report: EmbeddingReport;
  /** Warnings for people; empty when every chunk has its vector. */
  readonly warnings: readonly string[];
}

export interface RecordWork {
  readonly signal: AbortSignal;
  readonly onProgress: (stage: RecordStage, percent: number) => void;
}

export const defaultRetryMs = 5 * 60_000;

/**
 * Runs the stage `embedding` of a record: creates vectors for the chunks of its next generation. A failing embedder
 * does not fail the record: full-text search finds it immediately, and its vectors follow. Source: ADR 0031.
 */
export async function embedRecord(
  deps: RecordEmbeddingDeps,
  { job, numChunks }: { job: RecordJob; numChunks: number },
  { signal, onProgress }: RecordWork,
): Promise<RecordEmbedding> {
  const { embedder, vectors, clock } = deps;
  onProgress('embedding', 0);
  const space = await vectors.adopt(job.collectionId, embedder.model);
  const record = { id: job.id, generation: job.generation + 1 };
  const of = { collectionId: job.collectionId, record };
  if (space === undefined || space.model !== embedder.model) {
    return reportResult(embedder, { numChunks, pending: numChunks, refused: 0, end: { kind: 'other_model' } });
  }
  const until = clock.now() + deps.maxVectorWaitMs;
  let done = 0;
  const onRound = (chunks: number) => {
    done += chunks;
    onProgress('embedding', Math.floor((done * 100) / Math.max(numChunks, 1)));
    return clock.now() < until;
  };
  const end = await embedMissing(deps, { of, signal, onRound });
  const pending = end.kind === 'done' ? end.failed : await vectors.countMissing(of);
  const refused = await vectors.countRefused(of);
  if (end.kind === 'unavailable') {
    deps.logger.warn({ record_id: job.id, pending, reason: end.message }, 'record published without vectors');
  }
  return reportResult(embedder, { numChunks, pending, refused, end });
}

function reportResult(
  { model }: Embedder,
  { numChunks, pending, refused, end }: { numChunks: number; pending: number; refused: number; end: EmbeddingEnd },
): RecordEmbedding {
  const report = { model, chunks: numChunks - pending - refused, pending, refused };
  const warnings = [
    ...(pending === 0 ? [] : [warningOf(end, pending)]),
    ...(refused === 0 ? [] : [`${refused} chunks are found by their words only: the embedder refuses their text.`]),
  ];
  return { report, warnings };
}

function warningOf(end: EmbeddingEnd, pending: number): string {
  const words = `${pending} chunks are found by their words only`;
  switch (end.kind) {
    case 'done':
      return `${words} for now: the embedder fails to process their text. They are sent again later.`;
    case 'late':
      return `${words} for now: embedding them takes longer than the record waits.`;
    case 'unavailable':
      return `${words} for now: ${end.message}. They are embedded when it works again.`;
    case 'other_model':
      return `${words}: the collection was embedded by another model. Embed it again.`;
  }
}
