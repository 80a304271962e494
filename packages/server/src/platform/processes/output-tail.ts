import type { ChildProcess } from 'node:child_process';

type Redact = (text: string) => string;

/** The end of the output of a process. The text is untrusted. */
export interface OutputTail {
  text(): string;
  /**
   * Removes secrets from what was printed so far. What a run prints may arrive after its answer: the function is
   * applied once more when the next one is given.
   */
  redact(redact: Redact): void;
  append(text: string): void;
}

const shownBytes = 4096;
/**
 * More bytes are held than are shown. A secret that is cut at the beginning cannot be recognised, but it is not shown.
 */
const heldBytes = 2 * shownBytes;

/** Reads both output streams of a process, so that it never blocks, and keeps the end of them. */
export function keepOutputTail({ stdout, stderr }: ChildProcess): OutputTail {
  let held = Buffer.alloc(0);
  let latest: Redact | undefined;
  const append = (chunk: Buffer): void => {
    held = Buffer.concat([held, chunk.subarray(-heldBytes)]).subarray(-heldBytes);
  };
  const apply = (redact: Redact | undefined): void => {
    if (held.length > 0 && redact !== undefined) held = Buffer.from(redact(held.toString('utf8')));
  };
  for (const stream of [stdout, stderr]) stream?.on('error', () => {}).on('data', append);
  return {
    text: () => held.toString('utf8', Math.max(0, held.length - shownBytes)),
    redact: (redact) => {
      apply(latest);
      latest = redact;
      apply(latest);
    },
    append: (text) => append(Buffer.from(text)),
  };
}
