import { type FrameKind, frameKinds } from '../../../platform/processes/frames.ts';
import type { SupervisedProcess } from '../../../platform/processes/supervised-process.ts';
import type { ExtractionTask } from '../extraction.ts';
import type { ExtractionJob } from '../extraction-job.ts';
import type { OcrJob } from '../ocr/recognition.ts';
import { encodeMessage } from './protocol.ts';

const pieceBytes = 2 ** 18;

/**
 * Writes the job and the bytes of the document to the child, with backpressure. The time limit does not include the
 * time of the source. When the run is over, it ends early and closes the source.
 */
export async function feedDocument(
  child: SupervisedProcess,
  { task, ocr, countdown, over }: { task: ExtractionTask; ocr: OcrJob; countdown: Countdown; over: AbortSignal },
): Promise<void> {
  const { source } = task;
  const document = source.kind === 'text' ? Buffer.from(source.text) : source;
  const length = 'bytes' in document ? document.bytes : document.byteLength;
  const write = async (kind: FrameKind, content: Uint8Array | string): Promise<void> => {
    if (!over.aborted && !child.send(kind, content)) await child.drained(over);
  };
  await write(frameKinds.message, encodeMessage({ type: 'job', job: toJob(task, ocr), bytes: length }));
  countdown.pause();
  for await (const bytes of 'open' in document ? document.open() : [document]) {
    countdown.resume();
    for (let at = 0; at < bytes.length && !over.aborted; at += pieceBytes) {
      await write(frameKinds.bytes, bytes.subarray(at, at + pieceBytes));
    }
    if (over.aborted) return;
    countdown.pause();
  }
  countdown.resume();
  await write(frameKinds.bytes, '');
}

function toJob(task: ExtractionTask, ocr: OcrJob): ExtractionJob {
  const { kind, source, splitter, chunkSize = null, title, fileName = null, maxChunks, maxOcrPages } = task;
  const { onDuplicate = 'keep', columns = null } = task;
  const password = task.password?.reveal() ?? null;
  const format = source.kind === 'text' ? 'text' : source.extension;
  const charset = source.kind === 'text' ? null : (source.charset ?? null);
  const bounded =
    ocr.kind === 'on' && maxOcrPages !== undefined ? { ...ocr, maxPages: Math.min(ocr.maxPages, maxOcrPages) } : ocr;
  const texts = { splitter, chunkSize, title, fileName };
  return { kind, format, charset, ...texts, maxChunks, onDuplicate, columns, password, ocr: bounded };
}

/** A time limit that can be paused while the process waits for another party. */
interface Countdown {
  pause(): void;
  resume(): void;
  stop(): void;
}

/** Starts paused. `onEnd` is called once after `milliseconds`, not counting pauses. */
export function createCountdown(milliseconds: number, onEnd: () => void): Countdown {
  let remaining = milliseconds;
  let since = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function pause(): void {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    remaining -= performance.now() - since;
  }

  return {
    pause,
    resume: () => {
      if (timer !== undefined || stopped) return;
      since = performance.now();
      timer = setTimeout(onEnd, Math.max(0, remaining));
    },
    stop: () => {
      pause();
      stopped = true;
    },
  };
}
