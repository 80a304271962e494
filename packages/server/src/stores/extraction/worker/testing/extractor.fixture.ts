import { readFileSync } from 'node:fs';
import { createAdmission } from '../../../../platform/admission/admission.ts';
import { createLogger } from '../../../../platform/log/logger.ts';
import type { ExtractedChunk, ExtractionSource, ExtractionTask, Extractor, ReportedRow } from '../../extraction.ts';
import { type ExtractorOptions, openExtractor } from '../open-extractor.ts';

export const never = new AbortController().signal;

export function open(options: Partial<ExtractorOptions> = {}): Extractor {
  return openExtractor({ admission: createAdmission(), logger: createLogger('silent'), ...options });
}

/** Returns the living child processes of a process. */
export function children(pid: number = process.pid): number[] {
  const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return list === '' ? [] : list.split(' ').map(Number);
}

export function onlyChild(): number {
  const [pid, ...others] = children();
  if (pid === undefined || others.length > 0) throw new Error('expected one child');
  return pid;
}

/** Returns the process that reads. Within bubblewrap it is a child of the only child. */
export function onlyReader(): number {
  const [inner] = children(onlyChild());
  return inner ?? onlyChild();
}

/** Returns whether the process is alive. A zombie is not. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

export function file(
  extension: (ExtractionSource & { kind: 'file' })['extension'],
  bytes: Uint8Array,
): ExtractionSource {
  return {
    kind: 'file',
    extension,
    bytes: bytes.length,
    open: async function* () {
      yield bytes;
    },
  };
}

/** Returns a task that collects its chunks. */
export function taskOf(source: ExtractionSource, more: Partial<ExtractionTask> = {}) {
  const chunks: ExtractedChunk[] = [];
  const rows: ReportedRow[] = [];
  const task: ExtractionTask = {
    projectId: 'project',
    source,
    splitter: null,
    title: '',
    kind: 'text',
    maxChunks: 1_000_000,
    onBatch: async (batch) => void chunks.push(...batch),
    onReportedRows: async (batch) => void rows.push(...batch),
    onStage: () => {},
    ...more,
  };
  return { task, chunks, rows };
}

export const short: ExtractionSource = { kind: 'text', text: 'A short text.' };

/** Asserts that the pool reads another document. */
export async function readsOn(pool: Extractor, more: Partial<ExtractionTask> = {}): Promise<void> {
  const { task, chunks } = taskOf(short, more);
  const outcome = await pool.extract(task, never);
  if (outcome.kind !== 'extracted' || chunks[0]?.content !== 'A short text.') throw new Error(JSON.stringify(outcome));
}
