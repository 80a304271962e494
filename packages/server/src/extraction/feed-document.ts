import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Countdown } from './countdown.ts';
import type { ExtractionTask } from './extraction.ts';
import type { ExtractionJob } from './make-chunks.ts';
import { frameKinds, toFrame, toMessageFrame } from './protocol.ts';

const pieceBytes = 2 ** 18;

/**
 * Writes the job and the bytes of the document to the child, as fast as it takes them; the time the source takes is
 * not counted. Ends early, and closes the source, when the run is over.
 */
export async function feedDocument(
  input: Writable,
  { task, countdown, over }: { task: ExtractionTask; countdown: Countdown; over: AbortSignal },
): Promise<void> {
  const { source } = task;
  const document = source.kind === 'text' ? Buffer.from(source.text) : source;
  const length = 'bytes' in document ? document.bytes : document.byteLength;
  await write(input, toMessageFrame({ type: 'job', job: toJob(task), bytes: length }), over);
  countdown.pause();
  for await (const bytes of 'open' in document ? document.open() : [document]) {
    countdown.resume();
    for (let at = 0; at < bytes.length && !over.aborted; at += pieceBytes) {
      await write(input, toFrame(frameKinds.bytes, bytes.subarray(at, at + pieceBytes)), over);
    }
    if (over.aborted) return;
    countdown.pause();
  }
  countdown.resume();
  await write(input, toFrame(frameKinds.bytes, new Uint8Array()), over);
}

async function write(input: Writable, frame: Buffer, over: AbortSignal): Promise<void> {
  if (over.aborted || input.write(frame)) return;
  try {
    await once(input, 'drain', { signal: over });
  } catch (cause) {
    // The end of the process is reported by the process itself.
    if (!over.aborted && !input.destroyed) throw cause;
  }
}

function toJob({ kind, source, splitter, title, maxChunks, onDuplicate = 'keep' }: ExtractionTask): ExtractionJob {
  const format = source.kind === 'text' ? 'text' : source.extension;
  const charset = source.kind === 'text' ? null : (source.charset ?? null);
  return { kind, format, charset, splitter, title, maxChunks, onDuplicate };
}
