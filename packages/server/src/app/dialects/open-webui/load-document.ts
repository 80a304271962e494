import type { LoadedDocument } from '@quartermaster/contract';
import type { Logger } from '../../../platform/log/logger.ts';
import type { ExtractionOutcome, ExtractionTask, Extractor } from '../../../stores/extraction/extraction.ts';
import type { TemporaryFile } from '../../../stores/files/upload/temporary-file.ts';
import { collectText } from './collect-text.ts';
import { documentNotRead } from './document-not-read.ts';
import { loadCancelled, textTooLong } from './problems.ts';
import type { DocumentName } from './read-document-name.ts';

export interface DocumentLoaderDeps {
  readonly extractor: Pick<Extractor, 'extract'>;
  readonly loaderMetrics: { count(outcome: string): void };
  readonly logger: Logger;
}

export interface LoadRequest extends DocumentName, TemporaryFile {
  readonly projectId: string;
  readonly keyId: string;
  readonly requestId: string;
}

/** The limits on the text of one document. It is in memory until it has been sent. */
const loadLimits = { characters: 8_000_000, blocks: 100_000 } as const;

/** Cuts at empty lines, so that each page keeps its own text, and sheets between rows. Overlap would repeat text. */
const splitter: ExtractionTask['splitter'] = { type: 'separator', separators: ['\n\n'], chunk_overlap: 0 };
const rowSplitter: ExtractionTask['splitter'] = {
  type: 'separator',
  separators: ['\n'],
  chunk_size: 65_535,
  chunk_overlap: 0,
};

/**
 * Reads a document in a child process and returns its text, by page or sheet.
 * @throws REQUEST_VALIDATION_ERROR when it cannot be read, FILE_TOO_LARGE when its text is too long, SERVICE_UNAVAILABLE
 *   when the reading was cancelled, TOO_MANY_REQUESTS when too many documents wait
 */
export async function loadDocument(
  { extractor, loaderMetrics, logger }: DocumentLoaderDeps,
  request: LoadRequest,
  signal: AbortSignal,
): Promise<LoadedDocument[]> {
  const { projectId, keyId, extension, bytes, open } = request;
  const tooLong = new AbortController();
  const areRows = extension === 'csv' || extension === 'xlsx';
  const text = collectText(loadLimits.characters, { areRows, onExceeded: () => tooLong.abort() });
  const task: ExtractionTask = {
    projectId,
    keyId,
    source: { kind: 'file', extension, bytes, open },
    splitter: areRows ? rowSplitter : splitter,
    title: '',
    kind: 'text',
    maxChunks: loadLimits.blocks,
    onBatch: async (batch) => text.add(batch),
    onStage: () => {},
  };
  const outcome = await extractor.extract(task, AbortSignal.any([signal, tooLong.signal]));
  const result = tooLong.signal.aborted ? 'text_too_long' : outcome.kind === 'failed' ? outcome.code : outcome.kind;
  loaderMetrics.count(result);
  logger.info({ request_id: request.requestId, extension, bytes, outcome: result }, 'document loaded');
  if (tooLong.signal.aborted) throw textTooLong(loadLimits);
  const { title } = checkExtracted(outcome).report;
  const { name: source, mimeType } = request;
  return text.sections().map(({ page, sheet, content }) => ({
    page_content: content,
    metadata: {
      source,
      ...(mimeType === undefined ? {} : { mime_type: mimeType }),
      ...(title === undefined ? {} : { title }),
      // Open WebUI counts pages from 0 and shows them from 1.
      ...(page === undefined ? {} : { page: page - 1, page_label: String(page) }),
      ...(sheet === undefined ? {} : { sheet }),
    },
  }));
}

function checkExtracted(outcome: ExtractionOutcome): Extract<ExtractionOutcome, { kind: 'extracted' }> {
  if (outcome.kind === 'extracted') return outcome;
  if (outcome.kind === 'cancelled' || outcome.killed === true) throw loadCancelled();
  throw outcome.code === 'capacity_exceeded' ? textTooLong(loadLimits) : documentNotRead(outcome);
}
