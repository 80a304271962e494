import { purposes, type RecordStage } from '@quartermaster/contract';
import type { ExtractedChunk, ExtractionOutcome, ExtractionSource, Extractor } from '../extraction/extraction.ts';
import type { FileAccess } from '../files/file-access.ts';
import type { Clock } from '../kernel/clock.ts';
import type { NewId } from '../kernel/identifier.ts';
import type { NewChunk } from './chunk-repository.ts';
import { inSlices } from './chunk-slices.ts';
import type { PageFetcher } from './page-fetcher.ts';
import type { RecordJob, RecordJobRepository } from './record-job-repository.ts';

export interface ProcessDeps {
  readonly jobs: RecordJobRepository;
  readonly files: FileAccess;
  readonly extractor: Extractor;
  readonly pages: PageFetcher;
  readonly clock: Clock;
  readonly newId: NewId;
  /** Milliseconds that a lease holds. */
  readonly leaseMs: number;
}

export interface Work {
  /** Aborted when the claim is lost, the deadline passes or the service stops. */
  readonly signal: AbortSignal;
  readonly onProgress: (stage: RecordStage, percent: number) => void;
}

type Failure = { readonly kind: 'failed'; readonly code: string; readonly message: string };

/** Thrown when the record was claimed by another, remade or deleted meanwhile: nothing is left to do for it. */
export class ClaimLost extends Error {}

const chunksPerSweep = 500;

/**
 * Makes the chunks of one record and switches to them. Ends the record in `ready`, `partial` or, when the document is to
 * blame, in `error`. Throws ClaimLost, what aborted the signal, or a failure of ours, after which it may be tried again.
 */
export async function processRecord(deps: ProcessDeps, job: RecordJob, work: Work): Promise<void> {
  const { jobs, clock } = deps;
  await removeLeftovers(deps, job, work);
  const room = await jobs.room(job);
  if (room <= 0) return fail(deps, job, capacityExceeded);
  const source = await openSource(deps, job, work);
  work.signal.throwIfAborted();
  if (source.kind === 'failed') return fail(deps, job, source);

  const { outcome, numChunks } = await extract(deps, { job, source, room }, work);
  work.signal.throwIfAborted();
  if (outcome.kind === 'cancelled') throw new Error('the extraction ended although nobody asked for it');
  if (outcome.kind === 'failed') return fail(deps, job, outcome, outcome.report);
  work.onProgress('indexing', 100);
  const status = outcome.rejectedRows > 0 ? 'partial' : 'ready';
  const made = { status, numChunks, report: { ...outcome.report }, now: clock.now() } as const;
  const publication = await jobs.publish(job, made);
  if (publication.kind === 'lost') throw new ClaimLost();
  if (publication.kind === 'full') return fail(deps, job, capacityExceeded, outcome.report);
}

const capacityExceeded: Failure = {
  kind: 'failed',
  code: 'capacity_exceeded',
  message: 'The collection has no room for the chunks of this record.',
};

async function fail(deps: ProcessDeps, job: RecordJob, failure: Failure, report: object | null = null): Promise<void> {
  const { code, message } = failure;
  if (!(await deps.jobs.fail(job, { code, message }, { report, now: deps.clock.now() }))) throw new ClaimLost();
}

/** What an earlier try wrote before it was cut off: without this its chunks would be there twice. */
async function removeLeftovers({ jobs, clock, leaseMs }: ProcessDeps, job: RecordJob, { signal }: Work): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const swept = await jobs.sweep(job, { limit: chunksPerSweep, leaseUntil: clock.now() + leaseMs });
    if (swept === 'lost') throw new ClaimLost();
    if (swept === 'done') return;
  }
}

interface Extraction {
  readonly job: RecordJob;
  readonly source: ExtractionSource;
  readonly room: number;
}

async function extract(
  { jobs, extractor, clock, newId }: ProcessDeps,
  { job, source, room }: Extraction,
  { signal, onProgress }: Work,
): Promise<{ outcome: ExtractionOutcome; numChunks: number }> {
  // An extractor need not pass on what `onBatch` throws: it is kept here.
  const stop = new AbortController();
  let failure: unknown;
  let storing = Promise.resolve();
  let numChunks = 0;

  async function store(batch: readonly ExtractedChunk[]): Promise<void> {
    for (const slice of inSlices(batch)) {
      signal.throwIfAborted();
      const now = clock.now();
      const chunks = slice.map((chunk) => toNewChunk(chunk, newId('chunk'), now));
      if (!(await jobs.addChunks(job, chunks))) throw new ClaimLost();
      numChunks += chunks.length;
    }
  }

  const task = {
    source,
    splitter: job.textSplitter,
    title: job.title,
    kind: job.type === purposes.qa_record_file.recordType ? 'qa' : 'text',
    maxChunks: room,
    onBatch: (batch: readonly ExtractedChunk[]) => {
      storing = store(batch).catch((error: unknown) => {
        failure ??= error;
        stop.abort();
        throw error;
      });
      return storing;
    },
    onStage: onProgress,
  } as const;
  try {
    const outcome = await extractor.extract(task, AbortSignal.any([signal, stop.signal]));
    if (failure !== undefined) throw failure;
    return { outcome, numChunks };
  } catch (error) {
    throw failure ?? error;
  } finally {
    // A cancelled extraction does not wait for the batch it handed over last.
    await storing.catch(() => undefined);
  }
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
    words: chunk.words.map(storable),
  };
}

/** PostgreSQL keeps no U+0000; a document may hold some. */
function storable(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
}

async function openSource(deps: ProcessDeps, job: RecordJob, work: Work): Promise<ExtractionSource | Failure> {
  if (job.type === 'text') return { kind: 'text', text: job.content };
  if (job.type === 'web') return openPage(deps.pages, job.url ?? '', work);
  const file = job.fileId === null ? undefined : await deps.files.findFile(job.projectId, job.fileId);
  if (file === undefined) {
    return { kind: 'failed', code: 'file_missing', message: 'The file was deleted before it was read.' };
  }
  return { kind: 'file', extension: file.extension, bytes: file.bytes, open: () => deps.files.open(file) };
}

async function openPage(pages: PageFetcher, url: string, work: Work): Promise<ExtractionSource | Failure> {
  work.onProgress('fetching', 0);
  const page = await pages.fetch(url, work.signal);
  if (page.kind === 'failed') return page;
  const { bytes, extension, charset } = page;
  return {
    kind: 'file',
    extension,
    bytes: bytes.byteLength,
    open: async function* () {
      yield bytes;
    },
    ...(charset === undefined ? {} : { charset }),
  };
}
