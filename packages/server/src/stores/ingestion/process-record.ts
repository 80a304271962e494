import type { RecordFailure } from '@quartermaster/contract';
import { LeaseLost } from '../../platform/jobs/job.ts';
import type { NewChunk } from '../collections/chunks/chunk-repository.ts';
import { recordFailureCodes } from '../collections/records/record-failures.ts';
import type { RecordSource } from '../collections/records/record-repository.ts';
import { type ExtractionReport, type ExtractionSource, isPartial } from '../extraction/extraction.ts';
import { extractRecord, type ProcessDeps, type Work } from './extract-record.ts';
import type { PageFetcher } from './page-fetcher.ts';
import type { IngestedRecord, RecordJob } from './record-job-repository.ts';
import { StoredTooMuch } from './stored-bytes.ts';

/** The process that read the document was killed, for an unknown reason. `failure` is the error of the record when no attempt succeeds. */
export class ReaderKilled extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super('the process that read the document was killed');
    this.failure = failure;
  }
}

export type Failure = RecordFailure & { readonly kind: 'failed' };

const chunksPerSweep = 500;

/**
 * Creates the chunks of one record and switches to them. The record ends in `ready`, `partial` or, when its document
 * cannot be read or exceeds a limit, in `error`. Throws LeaseLost, the reason of the signal, or an error after which an
 * attempt may succeed.
 * @returns whether it may have left rows to sweep
 */
export async function processRecord(deps: ProcessDeps, job: RecordJob, work: Work): Promise<boolean> {
  try {
    // A checkpoint means that an earlier attempt has read the whole source.
    const read = job.checkpoint === null ? await readRecord(deps, job, work) : { ingested: job.checkpoint };
    return read === undefined || (await publishRecord(deps, { job, ...read }, work));
  } catch (error) {
    if (!(error instanceof StoredTooMuch)) throw error;
    await fail(deps, job, error.failure);
    return true;
  }
}

interface ReadRecord {
  readonly ingested: IngestedRecord;
  /** The chunks of a small record. */
  readonly unwritten?: readonly NewChunk[];
}

/** Reads the source and writes the next generation. @returns undefined when the record has ended in `error`. */
async function readRecord(deps: ProcessDeps, job: RecordJob, work: Work): Promise<ReadRecord | undefined> {
  const { jobs, clock } = deps;
  await removeLeftovers(deps, job, work);
  const capacity = await jobs.remainingCapacity(job);
  if (capacity <= 0) return fail(deps, job, capacityExceeded);
  const source = await openSource(deps, job, work);
  work.signal.throwIfAborted();
  if (source.kind === 'failed') return fail(deps, job, source);

  const password = deps.passwords.decrypt({ ...job, recordId: job.id }, job.encryptedPassword);
  if (job.encryptedPassword !== null && password === null) return fail(deps, job, otherKey);

  const since = clock.now();
  const extraction = { job, source, password, capacity };
  const { outcome, numChunks, skipped, unwritten } = await extractRecord(deps, extraction, work);
  work.signal.throwIfAborted();
  if (outcome.kind === 'cancelled') throw new Error('the extraction was cancelled without a request');
  if (outcome.kind === 'failed' && outcome.killed === true) throw new ReaderKilled(outcome);
  const report = withSkipped(outcome.report, skipped);
  if (outcome.kind === 'failed') return fail(deps, job, outcome, report);
  const status = isPartial(outcome) ? 'partial' : 'ready';
  const { chunkingVersion } = job;
  const ingested = {
    status,
    numChunks,
    report: { ...report },
    now: clock.now(),
    since,
    chunkingVersion,
  } as const;
  // Reading a small record again is cheaper than a checkpoint.
  if (unwritten.length === 0 && !(await jobs.saveCheckpoint(job, ingested))) throw new LeaseLost();
  return { ingested, unwritten };
}

async function publishRecord(
  deps: ProcessDeps,
  { job, ingested, unwritten }: ReadRecord & { job: RecordJob },
  work: Work,
): Promise<boolean> {
  work.signal.throwIfAborted();
  work.onProgress('indexing', 100);
  await deps.adoptModel?.(job.collectionId);
  const publication = await deps.jobs.publish(job, { ...ingested, now: deps.clock.now() }, unwritten);
  if (publication.kind === 'lost') throw new LeaseLost();
  if (publication.kind === 'overtaken')
    throw new Error('Another record stored some of the same pairs in the meantime.');
  if (publication.kind === 'full') await fail(deps, job, capacityExceeded, ingested.report);
  else if (publication.kind === 'kept')
    deps.metrics?.rechunked(publication.reason === 'unchanged' ? 'unchanged' : 'kept');
  else if (job.isRechunked) deps.metrics?.rechunked('replaced');
  return publication.kind !== 'published' || publication.sweep;
}

/** Adds the skipped pairs to the report. The extractor cannot count them, because it does not know the collection. */
function withSkipped(report: ExtractionReport | null, skipped: number): ExtractionReport | null {
  if (report?.rows === undefined || skipped === 0) return report;
  const { total, accepted, rejected, duplicate } = report.rows;
  return { ...report, rows: { total, accepted: accepted - skipped, rejected, duplicate: duplicate + skipped } };
}

const capacityExceeded: Failure = {
  kind: 'failed',
  code: 'capacity_exceeded',
  message:
    'The collection is full: the chunks of this record exceed its capacity. Delete records or chunks, or use another collection.',
};

const otherKey: Failure = {
  kind: 'failed',
  code: 'file_encrypted',
  message:
    'The stored password cannot be decrypted, because this process has another encryption key. Send it as `password` again.',
};

async function fail(
  deps: ProcessDeps,
  job: RecordJob,
  failure: Failure,
  report: object | null = null,
): Promise<undefined> {
  if (job.isRechunked) deps.metrics?.rechunked('kept');
  const { code, message, details } = failure;
  const stored = { code, message, ...(details === undefined ? {} : { details }) };
  if (!(await deps.jobs.fail(job, stored, { report, now: deps.clock.now() }))) throw new LeaseLost();
}

/** Removes what an interrupted attempt wrote. Otherwise the chunks would be stored twice. */
async function removeLeftovers({ jobs, clock, leaseMs }: ProcessDeps, job: RecordJob, { signal }: Work): Promise<void> {
  if (!job.hasLeftovers) return;
  for (;;) {
    signal.throwIfAborted();
    const swept = await jobs.sweep(job, { limit: chunksPerSweep, leaseUntil: clock.now() + leaseMs });
    if (swept === 'lost') throw new LeaseLost();
    if (swept === 'done') return;
  }
}

/** Opens the source of a record for reading. Returns a failure when the source no longer exists. */
export async function openSource(
  deps: Pick<ProcessDeps, 'files' | 'pages'>,
  job: RecordSource & { readonly projectId: string },
  work: Work,
): Promise<ExtractionSource | Failure> {
  if (job.type === 'text') return { kind: 'text', text: job.content };
  if (job.type === 'web') return openPage(deps.pages, job.url ?? '', work);
  const file = job.fileId === null ? undefined : await deps.files.findFile(job.projectId, job.fileId, null);
  if (file === undefined) {
    return { kind: 'failed', code: 'file_missing', message: recordFailureCodes.file_missing };
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
