import type { Chunking, RecordFailure, RecordPreview } from '@quartermaster/contract';
import type { AdmissionQueue } from '../../platform/admission/admission-queue.ts';
import { Secret } from '../../platform/secret.ts';
import type { Collections } from '../collections/collections.ts';
import type { DryRunPlace, DryRuns } from '../collections/records/dry-runs.ts';
import type { RecordSource } from '../collections/records/record-repository.ts';
import { readPassword, readSource } from '../collections/records/record-source.ts';
import type { ExtractedChunk, ExtractionOutcome, Extractor, ReportedRow } from '../extraction/extraction.ts';
import { isPartial, rowCodes } from '../extraction/extraction.ts';
import type { FileAccess } from '../files/file-access.ts';
import { taskOf, toTakenRow } from './extract-record.ts';
import type { PageFetcher } from './page-fetcher.ts';
import { type Failure, openSource } from './process-record.ts';
import type { RecordJobRepository } from './record-job-repository.ts';

export interface DryRunDeps {
  readonly collections: Pick<Collections, 'find'>;
  readonly jobs: Pick<RecordJobRepository, 'findExistingKeys'>;
  readonly files: FileAccess;
  readonly pages: PageFetcher;
  readonly extractor: Extractor;
  /** Each dry run occupies a request and an extraction process. */
  readonly queue: AdmissionQueue;
}

/** A dry run is one request, which the program for scanned pages must not hold for minutes. */
const limits = { chunks: 10, rows: 100, scannedPages: 5 };

export function createDryRuns(deps: DryRunDeps): DryRuns {
  return {
    async run(place, body, signal) {
      const {
        type: collectionType,
        capacity,
        chunking,
      } = await deps.collections.find(place.projectId, place.collectionId);
      const { projectId, reach } = place;
      const source = await readSource(body, { files: deps.files, projectId, reach, collectionType });
      const password = readPassword(body, source.type);
      const secret = password === null ? null : new Secret(password);
      const request = { ...place, source, password: secret, capacity, chunking };
      const shown = await deps.queue.run(place, () => preview(deps, request, signal), { signal });
      if (shown === null) throw dryRunCancelled();
      return shown;
    },
  };
}

function dryRunCancelled(): Error {
  return new Error('The dry run was cancelled.');
}

interface PreviewRequest extends DryRunPlace {
  readonly source: RecordSource;
  readonly password: Secret | null;
  readonly capacity: number;
  readonly chunking: Chunking;
}

async function preview(deps: DryRunDeps, request: PreviewRequest, signal: AbortSignal): Promise<RecordPreview> {
  const { source, password, collectionId, projectId, keyId, capacity } = request;
  const opened = await openSource(deps, { ...source, projectId }, { signal, onProgress: () => {} });
  const chunks: ExtractedChunk[] = [];
  const rows: ReportedRow[] = [];
  let skipped = 0;
  if (opened.kind === 'failed') return toPreview({ collectionId, outcome: opened, chunks, rows, skipped });

  async function look(batch: readonly ExtractedChunk[]): Promise<void> {
    const isLookedAt = source.onDuplicate === 'skip' || chunks.length < limits.chunks;
    if (!isLookedAt) return;
    const keys = source.onDuplicate === 'skip' ? batch.map((chunk) => chunk.rowKey ?? '') : [];
    const taken = await deps.jobs.findExistingKeys({ collectionId, id: null }, keys);
    for (const chunk of batch) {
      if (taken.has(chunk.rowKey ?? '')) {
        skipped += 1;
        rows.push(...[toTakenRow(chunk)].slice(0, limits.rows - rows.length));
      } else if (chunks.length < limits.chunks) chunks.push(chunk);
    }
  }

  const task = {
    ...taskOf(source, request.chunking),
    projectId,
    keyId,
    password,
    source: opened,
    maxChunks: capacity,
    maxOcrPages: limits.scannedPages,
    onBatch: look,
    onReportedRows: async (batch: readonly ReportedRow[]) =>
      void rows.push(...batch.slice(0, limits.rows - rows.length)),
    onStage: () => {},
  };
  const outcome = await deps.extractor.extract(task, signal);
  if (outcome.kind === 'cancelled') throw dryRunCancelled();
  return toPreview({ collectionId, outcome, chunks, rows, skipped });
}

interface Found {
  readonly collectionId: string;
  readonly outcome: Exclude<ExtractionOutcome, { kind: 'cancelled' }> | Failure;
  readonly chunks: readonly ExtractedChunk[];
  readonly rows: readonly ReportedRow[];
  readonly skipped: number;
}

function toFailure({ code, message, details }: RecordFailure): RecordFailure {
  return { code, message, ...(details === undefined ? {} : { details }) };
}

function toPreview({ collectionId, outcome, chunks, rows, skipped }: Found): RecordPreview {
  const isFailed = outcome.kind === 'failed';
  const report = 'report' in outcome && outcome.report !== null ? { ...outcome.report } : null;
  if (report?.rows !== undefined) {
    const { accepted, duplicate } = report.rows;
    Object.assign(report, { rows: { ...report.rows, accepted: accepted - skipped, duplicate: duplicate + skipped } });
  }
  return {
    object: 'RecordPreview',
    collection_id: collectionId,
    status: isFailed ? 'error' : isPartial(outcome) ? 'partial' : 'ready',
    num_chunks: isFailed ? 0 : outcome.numChunks - skipped,
    error: isFailed ? toFailure(outcome) : null,
    report,
    chunks: chunks.map(({ content, question, answer, numTokens, metadata, locator }) => ({
      content,
      ...(question === null ? {} : { question }),
      ...(answer === null ? {} : { answer }),
      num_tokens: numTokens,
      metadata,
      locator,
    })),
    rows: rows.map(({ sheet, row, column, code, excerpt }) => {
      const { status, message } = rowCodes[code];
      return { status, sheet, row, column, code, message, excerpt };
    }),
  };
}
