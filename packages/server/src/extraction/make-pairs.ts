import type { Locator } from '@quartermaster/contract';
import type { ExtractedChunk } from './extraction.ts';
import type { ChunkSink, ExtractionJob, Made, ReportDraft } from './make-chunks.ts';
import { type Pair, readPairs } from './pairs.ts';
import type { Workbook } from './sheet.ts';
import { countTokens } from './tokens.ts';
import { capacityExceeded, noRows } from './unreadable.ts';
import { cutWords } from './words.ts';

/**
 * Reads a sheet and gives a chunk for each question–answer pair, in the order of the sheet.
 * @throws Unreadable when the sheet cannot be read or has no pair.
 */
export async function makePairs(input: {
  job: ExtractionJob;
  bytes: Uint8Array;
  sink: ChunkSink;
  report: ReportDraft;
}): Promise<Made> {
  const { job, bytes, sink, report } = input;
  const workbook = await readWorkbook(job, bytes);
  Object.assign(report, workbook.facts);
  report.warnings.push(...workbook.warnings);
  let numChunks = 0;
  let rejectedRows = 0;
  sink.stage('chunking', 0);
  for (const read of readPairs(workbook, report.warnings)) {
    let taken: Promise<void> | undefined;
    if ('pair' in read) {
      if (numChunks === job.maxChunks) throw capacityExceeded(job.maxChunks);
      taken = sink.chunk(toChunk(read.pair, numChunks));
      numChunks += 1;
    } else {
      taken = sink.rejectedRow(read.rejected);
      rejectedRows += 1;
    }
    report.rows = { total: numChunks + rejectedRows, accepted: numChunks, rejected: rejectedRows };
    if (taken !== undefined) await taken;
  }
  if (numChunks === 0) throw noRows(rejectedRows);
  return { numChunks, rejectedRows };
}

function toChunk(pair: Pair, ordinal: number): ExtractedChunk {
  const { question, answer, metadata } = pair;
  const content = `${question}\n\n${answer}`;
  const locator: Locator = { ...(pair.sheet === null ? {} : { sheet: pair.sheet }), row: pair.row };
  return {
    ordinal,
    content,
    question,
    answer,
    numTokens: countTokens(content),
    locator,
    metadata,
    words: cutWords(content),
  };
}

async function readWorkbook(job: ExtractionJob, bytes: Uint8Array): Promise<Workbook> {
  if (job.format === 'xlsx') return (await import('./read-xlsx.ts')).readXlsx(bytes);
  if (job.format === 'csv') return (await import('./read-csv.ts')).readCsv(bytes, job.charset ?? undefined);
  throw new Error(`no reader makes question–answer pairs of ${job.format}`);
}
