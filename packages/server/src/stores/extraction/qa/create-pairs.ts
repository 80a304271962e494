import type { Locator } from '@quartermaster/contract';
import { countFieldTerms } from '../../search/analysis/field-terms.ts';
import { contentOfPair, type ExtractedChunk, rowCodes, type SheetReport } from '../extraction.ts';
import { capacityExceeded, noRows } from '../extraction-error.ts';
import type { ChunkCounts, ChunkSink, ExtractionJob, ReportDraft } from '../extraction-job.ts';
import { countTokens } from '../tokens.ts';
import { type Pair, readPairs } from './pairs.ts';
import { createWarn, cutSheetNames, type Warn, type Workbook } from './sheet.ts';

interface PairTask {
  readonly job: ExtractionJob;
  /** Reads the sheet. */
  readonly read: (warn: Warn) => Promise<Workbook>;
  readonly sink: ChunkSink;
  readonly report: ReportDraft;
}

/**
 * Reads a sheet and creates a chunk for each question–answer pair, in the order of the sheet.
 * @throws ExtractionError when the sheet cannot be read or has no pair.
 */
export async function createPairs({ job, read, sink, report }: PairTask): Promise<ChunkCounts> {
  const warn = createWarn(report.warnings);
  const workbook = await read(warn);
  Object.assign(report, workbook.facts);
  const boxes = workbook.drawings?.texts.length ?? 0;
  if (boxes > 0) warn(`boxes_not_read: ${boxes} text boxes or charts of the workbook were not read.`);
  const pictures = workbook.drawings?.pictures ?? 0;
  if (pictures > 0) warn(`pictures_not_read: ${pictures} pictures of the workbook were not read.`);
  const named = { ...workbook, sheets: cutSheetNames(workbook.sheets, warn) };
  sink.stage('chunking', 0);
  const sheets: SheetReport[] = [];
  const counts = { total: 0, accepted: 0, rejected: 0, duplicate: 0 };
  report.sheets = sheets;
  report.rows = counts;
  const { onDuplicate, columns } = job;
  const options = { onDuplicate, columns, warn, onSheet: (sheet: SheetReport) => void sheets.push(sheet) };
  for (const found of readPairs(named, options)) {
    counts.total += 1;
    let taken: Promise<void> | undefined;
    if ('pair' in found) {
      if (counts.accepted === job.maxChunks) throw capacityExceeded(job.maxChunks);
      taken = sink.chunk(toChunk(found.pair, job, counts.accepted));
      counts.accepted += 1;
    } else {
      taken = sink.reportedRow(found.reported);
      counts[rowCodes[found.reported.code].status] += 1;
    }
    if (taken !== undefined) await taken;
  }
  report.header = sheets.some(({ header }) => header === 'found') ? 'found' : 'none';
  if (counts.accepted + counts.duplicate === 0) throw noRows(counts.rejected);
  return { numChunks: counts.accepted, rejectedRows: counts.rejected, duplicateRows: counts.duplicate };
}

function toChunk(pair: Pair, { title, fileName }: ExtractionJob, ordinal: number): ExtractedChunk {
  const { question, answer, metadata, rowKey } = pair;
  const content = contentOfPair(question, answer);
  const { sheet, row, cells } = pair;
  const locator: Locator = { ...(sheet === null ? {} : { sheet }), row, cells: [...cells] };
  return {
    ordinal,
    content,
    question,
    answer,
    numTokens: countTokens(content),
    locator,
    metadata,
    words: countFieldTerms({ title, fileName, question, content }),
    rowKey,
  };
}
