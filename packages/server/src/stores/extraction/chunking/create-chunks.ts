import { countFieldTerms } from '../../search/analysis/field-terms.ts';
import { type Document, layOut, type PlacedBlock } from '../document.ts';
import { capacityExceeded, fileEmpty, noText } from '../extraction-error.ts';
import type { ChunkCounts, ChunkSink, ExtractionJob, ReportDraft } from '../extraction-job.ts';
import { parserOf, readDocument } from '../formats/read-document.ts';
import { readWorkbook } from '../formats/read-sheets.ts';
import type { Ocr } from '../ocr/recognition.ts';
import { createPairs } from '../qa/create-pairs.ts';
import { countTokens } from '../tokens.ts';
import { separatorDefaults } from './check-splitter.ts';
import { batchLimits } from './chunk-batch.ts';
import { chunkSizeOf } from './chunk-size.ts';
import { splitBySeparators } from './separator-splitter.ts';
import { type StructureCut, splitByStructure } from './structure-splitter.ts';
import { splitByTokens } from './token-splitter.ts';

/**
 * Reads the bytes and passes every chunk to the sink, in order.
 * @throws ExtractionError when the document cannot be read or has too many chunks.
 */
export async function createChunks(input: {
  job: ExtractionJob;
  bytes: Uint8Array;
  sink: ChunkSink;
  report: ReportDraft;
  /** Reads a picture of a scanned page. */
  recognize: Ocr['recognize'];
}) {
  const { job, sink, report, recognize } = input;
  if (input.bytes.length === 0) throw fileEmpty();
  sink.stage('parsing', 0);
  const bytes = await decrypt(job, input.bytes);
  if (job.kind === 'qa') {
    const source = { format: job.format, bytes, charset: job.charset ?? undefined };
    return createPairs({ job, sink, report, read: (warn) => readWorkbook(source, warn) });
  }
  report.parser = parserOf(job.format);
  const document = await readDocument({
    format: job.format,
    bytes,
    charset: job.charset ?? undefined,
    password: job.password,
    ocr: { job: job.ocr, recognize },
    onProgress: (percent) => sink.stage('parsing', percent),
  });
  take(report, document);
  return chunkText(document, { job, sink, report });
}

const officeNames: Readonly<Record<string, string>> = { docx: 'Word', xlsx: 'Excel', pptx: 'PowerPoint' };

/** Decrypts an Office file. PDFium decrypts PDF files itself. */
async function decrypt({ format, password }: ExtractionJob, bytes: Uint8Array): Promise<Uint8Array> {
  const name = officeNames[format];
  if (password === null || name === undefined) return bytes;
  const { decryptOffice, isEncryptedOffice } = await import('../formats/office-password.ts');
  return isEncryptedOffice(bytes) ? decryptOffice(bytes, password, name) : bytes;
}

function take(report: ReportDraft, read: Pick<Document, 'facts' | 'warnings'>): void {
  Object.assign(report, read.facts);
  report.warnings.push(...read.warnings);
}

interface ChunkTask {
  readonly job: ExtractionJob;
  readonly sink: ChunkSink;
  readonly report: ReportDraft;
}

async function chunkText(document: Document, { job, sink, report }: ChunkTask): Promise<ChunkCounts> {
  const { text, blocks, warnings, locate, boxesOf } = layOut(document);
  report.warnings.push(...warnings);
  report.characters = text.length;
  report.headings = blocks.filter((block) => block.kind === 'heading').length;
  report.tables = blocks.filter((block) => block.kind === 'table').length;
  if (text.trim() === '') throw noText(report.warnings.filter(isAboutOcr).map(withoutCode).join(' '));
  const prefix = job.title === '' ? '' : `${job.title.replaceAll('\0', '').toWellFormed()}\n\n`;
  const prefixTokens = countTokens(prefix);
  const fields = { title: job.title, fileName: job.fileName };
  let numChunks = 0;
  for (const cut of split(text, blocks, job)) {
    if (numChunks === job.maxChunks) throw capacityExceeded(job.maxChunks);
    sink.stage('chunking', Math.floor((cut.start * 100) / text.length));
    const header = cut.header === undefined ? '' : `${cut.header}\n`;
    const content = prefix + header + text.slice(cut.start, cut.end);
    const locator = locate(cut.start, cut.end);
    const heading = locator.heading_path?.join('\n') ?? null;
    const boxes = boxesOf(cut.start, cut.end).slice(0, batchLimits.boxes);
    const taken = sink.chunk({
      ordinal: numChunks,
      content,
      question: null,
      answer: null,
      numTokens: prefixTokens + cut.numTokens,
      locator,
      ...(boxes.length === 0 ? {} : { boxes }),
      metadata: {},
      words: countFieldTerms({ ...fields, heading, content }),
    });
    numChunks += 1;
    if (taken !== undefined) await taken;
  }
  return { numChunks, rejectedRows: 0, duplicateRows: 0 };
}

/** Warnings about OCR explain why a scan has no text. */
function isAboutOcr(warning: string): boolean {
  return warning.startsWith('ocr_');
}

function withoutCode(warning: string): string {
  return warning.slice(warning.indexOf(':') + 2);
}

/** A page that is a form may be this many times as large as a chunk, unless the request or the collection sets a size. */
const formFactor = 1.5;

/** Without a splitter the structure of the document decides. Source: ADR 0017, 0156. */
function split(
  text: string,
  blocks: readonly PlacedBlock[],
  { splitter, chunkSize }: Pick<ExtractionJob, 'splitter' | 'chunkSize'>,
): Iterable<StructureCut> {
  if (splitter === null) {
    const size = chunkSize ?? chunkSizeOf(text);
    return splitByStructure(text, blocks, size, chunkSize === null ? size * formFactor : size);
  }
  const { type, separators = [], ...sizes } = splitter;
  const size = sizes.chunk_size ?? separatorDefaults.chunk_size;
  const overlap = sizes.chunk_overlap ?? separatorDefaults.chunk_overlap;
  return type === 'token'
    ? splitByTokens(text, { size, overlap })
    : splitBySeparators(text, separators, { size, overlap });
}
