import { constants } from 'node:os';
import type { Logger } from '../../../platform/log/logger.ts';
import { frameKinds } from '../../../platform/processes/frames.ts';
import { lowerPriority, type SpawnSettings } from '../../../platform/processes/isolation/spawn-isolated.ts';
import {
  type ProcessExit,
  type SupervisedProcess,
  superviseProcess,
} from '../../../platform/processes/supervised-process.ts';
import { watchMemory, watchProcessorTime } from '../../../platform/processes/usage-watch.ts';
import type { ExtractionOutcome, ExtractionTask } from '../extraction.ts';
import { ExtractionError } from '../extraction-error.ts';
import type { OcrEngine } from '../ocr/open-ocr.ts';
import type { Picture } from '../ocr/recognition.ts';
import { createCountdown, feedDocument } from './feed-document.ts';
import {
  createPictureCollector,
  encodeMessage,
  type FromChild,
  type JobResult,
  longestFrame,
  mostBatchesSent,
  parseFromChild,
} from './protocol.ts';
import { spawnReader } from './spawn-reader.ts';

export interface HostOptions {
  /** The time limit of one document, without the time in which the server provides bytes or stores chunks. */
  readonly timeoutMs: number;
  /** The maximum memory of a process. */
  readonly memoryMb: number;
  /** The program of the process. Default: the extraction program. */
  readonly program?: string;
  readonly isolation: SpawnSettings;
  readonly ocr: OcrEngine;
  readonly logger: Logger;
}

/** Reads documents in one child process, one at a time. */
export interface Host {
  /** Rejects only when the source or a callback of the task does, or when the child cannot be started. */
  run(task: ExtractionTask, signal: AbortSignal): Promise<ExtractionOutcome>;
  /** Whether it may read another document. A child is retired after an unexpected failure, after a long document, and by age. */
  isFit(): boolean;
  /** Resolves when the process has ended. */
  stop(): Promise<void>;
}

const mostDocuments = 100;
/** Milliseconds of processor time after which a document yields to requests and to documents that have just begun. */
const yieldsAfterMs = 1_000;

export function startHost(options: HostOptions): Host {
  const retireAfterCpuSeconds = Math.ceil(options.timeoutMs / 1000);
  const child = startReader({ ...options, cpuSeconds: 4 * retireAfterCpuSeconds + 10 });
  let documents = 0;
  let cpuSeconds = 0;
  let hasYielded = false;

  function yieldProcessors(): void {
    hasYielded = true;
    lowerPriority(child.process.pid(), 10);
  }

  async function run(task: ExtractionTask, signal: AbortSignal): Promise<ExtractionOutcome> {
    if (signal.aborted) return { kind: 'cancelled' };
    documents += 1;
    let done: Done | undefined;
    const unwatch = watchProcessorTime(child.process.pid, yieldsAfterMs, yieldProcessors);
    try {
      const ended = await converse(child, { task, signal, options });
      if (!('result' in ended)) return ended;
      done = ended;
      cpuSeconds = ended.cpuSeconds;
      return toOutcome(ended.result);
    } finally {
      unwatch();
      if (done === undefined || (done.result.kind === 'failed' && done.result.unexpected)) await child.kill();
    }
  }

  return {
    run,
    isFit: () =>
      child.process.isAlive() && !hasYielded && documents < mostDocuments && cpuSeconds < retireAfterCpuSeconds,
    stop: () => child.kill(),
  };
}

/** A child process with its message protocol. */
interface Reader {
  readonly process: SupervisedProcess;
  /** Sends the next events to this listener; immediately when the process has exited. */
  listen(listener: Listener): void;
  /** Resolves when the process has ended. */
  kill(): Promise<void>;
}

interface Listener {
  message(message: Exclude<FromChild, { type: 'picture' }>): void;
  picture(picture: Picture): void;
  /** The error of the document that the exit implies, or an Error if the document cannot be the reason. */
  exited(why: ExtractionOutcome | Error): void;
}

function startReader({ logger, isolation, ocr, ...plan }: HostOptions & { readonly cpuSeconds: number }): Reader {
  const pictures = createPictureCollector(ocr.job.kind === 'on' ? ocr.job.maxPixels : 0);
  let sentInvalid = false;
  let listener: Listener | undefined;
  let why: ExtractionOutcome | Error | undefined;
  const process = superviseProcess(spawnReader(plan, isolation), {
    maxFrameBytes: () => longestFrame,
    onFrameTooLong: () => refuse('a frame is too long'),
    onFrame: (kind, content) => {
      if (sentInvalid) return;
      try {
        if (kind === frameKinds.bytes) takeBytes(content);
        else takeMessage(parseFromChild(content));
      } catch (cause) {
        refuse(String(cause));
      }
    },
  });

  function takeBytes(content: Buffer): void {
    const picture = pictures.add(content);
    if (picture !== undefined) listener?.picture(picture);
  }

  function takeMessage(message: FromChild): void {
    if (message.type === 'picture') pictures.begin(message);
    else listener?.message(message);
  }

  function refuse(cause: string): void {
    sentInvalid = true;
    logger.error({ cause }, 'extraction worker sent an invalid message');
    process.kill();
  }

  async function reportExit(): Promise<void> {
    const exit = await process.exited;
    const { printed: stderr, code, signal } = exit;
    if (stderr !== '') logger.warn({ stderr, code, signal }, 'extraction worker exited');
    why = explainExit(exit, sentInvalid);
    listener?.exited(why);
  }

  const gone = reportExit();
  return {
    process,
    listen: (next) => {
      listener = next;
      if (why !== undefined) next.exited(why);
    },
    kill: () => {
      process.kill();
      return gone;
    },
  };
}

type Done = FromChild & { type: 'done' };

/** Resolves with the child's answer, or with the reason for not waiting. It leaves no timer and no listener. */
async function converse(
  child: Reader,
  { task, signal, options }: { task: ExtractionTask; signal: AbortSignal; options: HostOptions },
): Promise<Done | ExtractionOutcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Done | ExtractionOutcome>();
  const over = new AbortController();
  let unanswered = 0;
  let relayed = Promise.resolve();
  const countdown = createCountdown(options.timeoutMs, () => resolve(failed('time_limit')));
  const unwatch = watchMemory(child.process.pid, options.memoryMb, () => resolve(failed('memory_limit')));
  const cancel = () => resolve({ kind: 'cancelled' });
  const session = options.ocr.openSession();
  signal.addEventListener('abort', cancel, { once: true });

  function answer(): void {
    unanswered -= 1;
    if (over.signal.aborted) return;
    if (unanswered === 0) countdown.resume();
    child.process.send(frameKinds.message, encodeMessage({ type: 'next' }));
  }

  async function relay(message: FromChild): Promise<void> {
    if (over.signal.aborted) return;
    if (message.type === 'chunks') await task.onBatch(message.chunks);
    if (message.type === 'rows') await task.onReportedRows?.(message.rows);
  }

  let isRecognizing = false;
  async function recognize(picture: Picture): Promise<void> {
    if (over.signal.aborted) return;
    // A reader waits for each answer.
    if (isRecognizing) return resolve(failed('parser_crashed'));
    isRecognizing = true;
    // OCR has time limits of its own.
    countdown.pause();
    const recognition = await session.recognize(picture, over.signal);
    isRecognizing = false;
    if (over.signal.aborted) return;
    if (unanswered === 0) countdown.resume();
    child.process.send(frameKinds.message, encodeMessage({ type: 'recognized', recognition }));
  }

  child.listen({
    picture: (picture) => void recognize(picture).catch(reject),
    message: (message) => {
      if (over.signal.aborted) return;
      if (message.type === 'done') resolve(message);
      else if (message.type === 'stage') task.onStage(message.stage, message.percent);
      else if (unanswered === mostBatchesSent) resolve(failed('parser_crashed'));
      else {
        unanswered += 1;
        // The time until the server accepts the batch does not count against the child.
        countdown.pause();
        relayed = relayed.then(() => relay(message));
        relayed.then(answer, reject);
      }
    },
    exited: (why) => (why instanceof Error ? reject(why) : resolve(why)),
  });
  countdown.resume();
  feedDocument(child.process, { task, ocr: options.ocr.job, countdown, over: over.signal }).catch(reject);
  try {
    return await promise;
  } finally {
    over.abort();
    countdown.stop();
    unwatch();
    signal.removeEventListener('abort', cancel);
  }
}

function failed(code: 'time_limit' | 'memory_limit' | 'parser_crashed'): ExtractionOutcome {
  return { kind: 'failed', code, message: new ExtractionError(code).message, report: null };
}

function toOutcome(result: JobResult): ExtractionOutcome {
  if (result.kind === 'extracted') return result;
  const { kind, code, message, details, report } = result;
  return { kind, code, message, report, ...(details === undefined ? {} : { details }) };
}

/**
 * Returns the outcome for the document when a child exits, or an Error when the document cannot be the reason.
 * @param sentInvalid the child was killed because it sent an invalid message
 */
function explainExit(exit: ProcessExit, sentInvalid: boolean): ExtractionOutcome | Error {
  const { code, wasReady, printed } = exit;
  const signal = exit.signal ?? reportedSignal(code);
  if (!wasReady) return new Error(`a process that reads documents did not start (${signal ?? code}): ${printed}`);
  const { code: why, message } = new ExtractionError(sentInvalid ? 'parser_crashed' : failureCode(signal, printed));
  const failure = { kind: 'failed', code: why, message, report: null } as const;
  return signal === 'SIGKILL' && !sentInvalid ? { ...failure, killed: true } : failure;
}

/** Bubblewrap reports the signal that ended its child as a code above 128. */
function reportedSignal(code: number | null): string | null {
  const number = (code ?? 0) - 128;
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? null;
}

function failureCode(signal: string | null, printed: string) {
  if (signal === 'SIGXCPU') return 'time_limit';
  // V8 aborts when its heap is full. A SIGKILL from elsewhere usually means that the machine has no memory left; the
  // kernel may then choose any process.
  const heapFull = /heap out of memory|Allocation failed|Zone Allocation/i.test(printed);
  return heapFull || signal === 'SIGKILL' ? 'memory_limit' : 'parser_crashed';
}
