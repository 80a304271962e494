import type { ChildProcess } from 'node:child_process';
import type { SandboxOutcome } from './sandbox.ts';

const keptOutputBytes = 2048;

/** Drains what the process prints, so that it never blocks, and keeps the last of it. */
export function keepLastWords(child: ChildProcess): () => string {
  let kept = Buffer.alloc(0);
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('error', () => {});
    stream?.on('data', (chunk: Buffer) => {
      kept = Buffer.concat([kept, chunk.subarray(-keptOutputBytes)]).subarray(-keptOutputBytes);
    });
  }
  return () => kept.toString('utf8');
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly memoryMb: number;
}

/** The outcome of a run whose process ended by itself. */
export function describeEnd(lastWords: string, { code, signal, memoryMb }: ProcessEnd): SandboxOutcome {
  // Bubblewrap tells a signal as its number above 128.
  const isKilled = signal !== null || (code ?? 0) > 128;
  // V8 says this before it aborts at the limit of its heap. A plugin that pretends mislabels its own run only.
  if (isKilled && lastWords.includes('heap out of memory')) {
    return { kind: 'out_of_memory', limitMb: memoryMb };
  }
  return { kind: 'crashed', message: `The plugin's process ended (${signal ?? `exit code ${code}`}).` };
}
