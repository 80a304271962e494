import type { ChildProcess } from 'node:child_process';
import type { SandboxOutcome } from './sandbox.ts';

const keptOutputBytes = 2048;

type Rewrite = (text: string) => string;

export interface LastWords {
  text(): string;
  /**
   * A run is over: `rewrite` takes out of what was printed so far what must not be kept. What a run prints may come after
   * its answer: it is looked at again when the next one is over.
   */
  hide(rewrite: Rewrite | undefined): void;
}

/** Twice of what is told: what is cut in two at its beginning, and so not hidden, is left out. */
const heldBytes = 2 * keptOutputBytes;

/** Drains what the process prints, so that it never blocks, and keeps the last of it. */
export function keepLastWords(child: ChildProcess): LastWords {
  let kept = Buffer.alloc(0);
  let latest: Rewrite | undefined;
  const apply = (rewrite: Rewrite | undefined): void => {
    if (kept.length > 0 && rewrite !== undefined) kept = Buffer.from(rewrite(kept.toString('utf8')));
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('error', () => {});
    stream?.on('data', (chunk: Buffer) => {
      kept = Buffer.concat([kept, chunk.subarray(-heldBytes)]).subarray(-heldBytes);
    });
  }
  return {
    text: () => kept.toString('utf8', Math.max(0, kept.length - keptOutputBytes)),
    hide: (rewrite) => {
      apply(latest);
      latest = rewrite;
      apply(latest);
    },
  };
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly memoryMb: number;
  /** The kernel ended it at the limit of its control group. */
  readonly hasRunOutOfMemory: boolean;
}

/** The outcome of a run whose process ended by itself. */
export function describeEnd(lastWords: string, end: ProcessEnd): SandboxOutcome {
  const { code, signal, memoryMb } = end;
  // Bubblewrap tells a signal as its number above 128.
  const isKilled = signal !== null || (code ?? 0) > 128;
  // V8 says this before it aborts at the limit of its heap. A plugin that pretends mislabels its own run only.
  if (end.hasRunOutOfMemory || (isKilled && lastWords.includes('heap out of memory'))) {
    return { kind: 'out_of_memory', limitMb: memoryMb };
  }
  return { kind: 'crashed', message: `The plugin's process ended (${signal ?? `exit code ${code}`}).` };
}
