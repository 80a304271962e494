import type { IncomingHttpHeaders } from 'node:http';
import {
  type Extension,
  formatEntries,
  formatOfExtension,
  formatOfMediaType,
  type LoadedDocument,
} from '@quartermaster/contract';
import type { Logger } from '../../../platform/log/logger.ts';
import { Counter, type Registry } from '../../../platform/metrics.ts';
import { Problem } from '../../../platform/problem.ts';
import { quoteText } from '../../../platform/quote-text.ts';
import { fieldInvalid } from '../../../platform/validation/validation-error.ts';
import type {
  ExtractedChunk,
  ExtractionFailureCode,
  ExtractionOutcome,
  ExtractionTask,
  Extractor,
} from '../../../stores/extraction/extraction.ts';
import type { TemporaryFile } from '../../../stores/files/upload/temporary-file.ts';

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

/**
 * The document could not be read. Open WebUI recognises the sentence "No extractable text" and then uses its own
 * reader.
 */
function documentNotRead({ code, message }: { code: ExtractionFailureCode; message: string }): Problem {
  const hasNoText = code === 'no_text' || code === 'file_empty';
  return new Problem('REQUEST_VALIDATION_ERROR', hasNoText ? `No extractable text: ${message}` : message, {
    details: [{ reason: code }],
  });
}

function textTooLong({ characters, blocks }: { characters: number; blocks: number }): Problem {
  return new Problem(
    'FILE_TOO_LARGE',
    `The text of the document must have at most ${characters} characters and ${blocks} paragraphs or rows; received more.`,
  );
}

/** The client has disconnected, the service stops, or the system killed the reader. */
function loadCancelled(): Problem {
  return new Problem('SERVICE_UNAVAILABLE', 'The document was not read because its reader was ended. Send it again.', {
    retryAfter: 5,
  });
}

/** The text of one page or sheet, or of a document without either. */
interface Section {
  readonly page: number | undefined;
  readonly sheet: string | undefined;
  readonly content: string;
}

/**
 * Joins chunks to one text for each page or sheet. A chunk belongs to the page on which it begins.
 * @param options.areRows whether chunks are rows of a sheet, which stay on lines of their own
 * @param options.onExceeded called when the texts have more than `most` characters; further chunks are dropped
 */
function collectText(most: number, { areRows, onExceeded }: { areRows: boolean; onExceeded: () => void }) {
  const sections: Array<{ page: number | undefined; sheet: string | undefined; parts: string[]; end: number }> = [];
  let characters = 0;

  function add({ content, locator }: ExtractedChunk): void {
    const { page, sheet, char_start: start = 0, char_end: end = 0 } = locator ?? {};
    const last = sections.at(-1);
    if (last === undefined || last.page !== page || last.sheet !== sheet) {
      sections.push({ page, sheet, parts: [content], end });
      return;
    }
    const gap = end > 0 && start - last.end < 2 ? ' '.repeat(start - last.end) : '\n\n';
    last.parts.push(areRows && gap !== '' ? '\n' : gap, content);
    last.end = end;
  }

  return {
    add(chunks: readonly ExtractedChunk[]): void {
      for (const chunk of chunks) {
        characters += chunk.content.length;
        if (characters <= most) add(chunk);
        else onExceeded();
      }
    },
    sections: (): Section[] => sections.map(({ page, sheet, parts }) => ({ page, sheet, content: parts.join('') })),
  };
}

/** The properties of a document that its headers state. */
interface DocumentName {
  /** Without `X-Filename`: empty. */
  readonly name: string;
  readonly extension: Extension;
  readonly mimeType: string | undefined;
}

/** The maximum length of `X-Filename` in characters, percent-encoded. */
export const longestName = 2048;

/** The extensions of texts whose media type may be that of something else, as `.ts` is also a video. Source: `known_source_ext` of Open WebUI. */
const sourceCode = new Set(
  (
    'go py java sh bat ps1 cmd js ts css cpp hpp h c cs sql log ini pl pm r dart dockerfile env php hs hsc lua conf m mm plsql perl rb ' +
    'rs db2 scala bash swift vue svelte ex exs erl tsx jsx lhs json yaml yml toml'
  ).split(' '),
);

/**
 * Reads name and format of a document. The extension of the name decides, then the media type. Source code and any
 * other `text/…` are plain text.
 * @throws REQUEST_VALIDATION_ERROR for a malformed name, UNSUPPORTED_MEDIA_TYPE for a format without a reader
 */
export function readDocumentName(headers: IncomingHttpHeaders): DocumentName {
  const name = decodeName(headers['x-filename']);
  const mimeType = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  const dot = name.lastIndexOf('.');
  const written = dot === -1 ? '' : name.slice(dot + 1).toLowerCase();
  const byName = sourceCode.has(written) ? 'txt' : formatOfExtension(written);
  const extension = byName ?? formatOfMediaType(mimeType ?? '') ?? (mimeType?.startsWith('text/') ? 'txt' : undefined);
  if (extension === undefined) throw formatNotRead(written, mimeType);
  return { name, extension, mimeType };
}

function decodeName(header: string | string[] | undefined): string {
  const encoded = [header ?? ''].flat().join();
  if (encoded.length > longestName) {
    throw fieldInvalid('headers/x-filename', 'a longer name', `at most ${longestName} characters`);
  }
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw fieldInvalid('headers/x-filename', 'a malformed escape', 'a percent-encoded name in UTF-8');
  }
}

function formatNotRead(extension: string, mimeType: string | undefined): Problem {
  const found = `the extension ${quoteText(extension)} and the type ${quoteText(mimeType ?? '')}`;
  return new Problem(
    'UNSUPPORTED_MEDIA_TYPE',
    `The format of the document is not supported; received ${found}. Send ${formatEntries.map(([name]) => `.${name}`).join(', ')} or a text type.`,
  );
}

/** Counts documents by outcome: `extracted`, `cancelled`, `text_too_long` or why a document could not be read. */
export function createLoaderMetrics(registry: Registry) {
  const documents = new Counter({
    name: 'quartermaster_documents_loaded_total',
    help: 'Documents read for the external document loader of Open WebUI, by outcome.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  return { count: (outcome: string) => documents.inc({ outcome }) };
}
