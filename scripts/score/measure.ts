import type { Block, Document } from '../../packages/server/src/stores/extraction/document.ts';
import { layOut } from '../../packages/server/src/stores/extraction/document.ts';
import type { ExtractionOutcome, Extractor } from '../../packages/server/src/stores/extraction/extraction.ts';
import { readDocument } from '../../packages/server/src/stores/extraction/formats/read-document.ts';
import { type Entry, readCorpus, readTruth } from './corpus.ts';
import { type HeadingScore, scoreCells, scoreHeadings, scoreText, type TextScore } from './metrics.ts';

export interface Result {
  readonly entry: Entry;
  /** `ready`, or the code of the failure. */
  readonly outcome: string;
  /** Whether the manifest allows the outcome. */
  readonly honoured: boolean;
  readonly milliseconds: number;
  readonly characters: number;
  readonly text: TextScore | null;
  readonly headings: HeadingScore | null;
  readonly cells: number | null;
}

/** Runs the extractor on the document for its outcome, and compares the result of the reader with the ground truth. */
export async function measure(extractor: Extractor, entry: Entry): Promise<Result> {
  const bytes = readCorpus(entry.path);
  const format = /\.(\w+)(?:\.xz)?$/.exec(entry.path)?.[1] ?? '';
  const started = performance.now();
  const outcome = await extract(extractor, { format, bytes });
  const milliseconds = performance.now() - started;
  const code = outcome.kind === 'failed' ? outcome.code : outcome.kind === 'extracted' ? 'ready' : outcome.kind;
  const report = outcome.kind === 'cancelled' ? null : outcome.report;
  const base = { entry, outcome: code, honoured: isAllowed(entry.expect, code), milliseconds };
  const characters = report?.characters ?? 0;
  const truth = readTruth(entry, '.txt');
  if (truth === undefined || outcome.kind !== 'extracted') {
    return { ...base, characters, text: null, headings: null, cells: null };
  }
  const document = await readDocument({ format, bytes });
  const markdown = toMarkdown(document);
  const structure = readTruth(entry, '.md');
  return {
    ...base,
    characters,
    text: scoreText(truth, layOut(document).text),
    headings: structure === undefined ? null : scoreHeadings(structure, markdown),
    cells: structure === undefined ? null : scoreCells(structure, markdown),
  };
}

function extract(
  extractor: Extractor,
  { format, bytes }: { format: string; bytes: Buffer },
): Promise<ExtractionOutcome> {
  const task = {
    projectId: 'corpus',
    source: {
      kind: 'file',
      extension: format as 'pdf', // the folders of the corpus are named after the formats
      bytes: bytes.length,
      open: async function* () {
        yield bytes;
      },
    },
    splitter: null,
    title: '',
    kind: 'text',
    maxChunks: 1_000_000,
    onBatch: async () => {},
    onStage: () => {},
  } as const;
  return extractor.extract(task, new AbortController().signal);
}

const clear = ['file_encrypted', 'file_damaged', 'file_type_mismatch', 'file_empty', 'no_text', 'undecodable'];
const limits = ['time_limit', 'memory_limit', 'unpacked_limit'];
/** The allowed outcomes for each `expect` of the README of the corpus. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  ok: ['ready'],
  ok_empty_text: ['ready', 'no_text', 'file_empty'],
  ok_or_empty: ['ready', 'no_text'],
  ok_or_error: ['ready', ...clear, ...limits],
  no_hang: ['ready', ...clear, ...limits],
  reject_password: ['file_encrypted'],
  ok_or_reject_password: ['ready', 'file_encrypted'],
  reject: ['file_damaged', 'file_type_mismatch', 'undecodable'],
  reject_empty: ['file_empty'],
  ok_or_low_quality_flag: ['ready'],
};

function isAllowed(expect: string, code: string): boolean {
  const codes = allowed[expect];
  if (codes === undefined) throw new Error(`the corpus expects ${expect}, which is not known here`);
  return codes.includes(code);
}

/** Returns the Markdown in which the scorer of the corpus recognises headings and tables. */
export function toMarkdown(document: Document): string {
  return document.blocks.map(blockToMarkdown).join('\n\n');
}

function blockToMarkdown({ kind, level, text }: Block): string {
  if (kind === 'heading') return `${'#'.repeat(level ?? 1)} ${text.replaceAll('\n', ' ')}`;
  if (kind === 'code') return `~~~\n${text}\n~~~`;
  if (kind === 'table') return text.replaceAll(/^(.*)$/gm, '| $1 |');
  return text.replaceAll(/^(?=[#|])/gm, ' \\');
}
