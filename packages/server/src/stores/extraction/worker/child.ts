import { writeSync } from 'node:fs';
import { frameKinds } from '../../../platform/processes/frames.ts';
import { openParentChannel } from '../../../platform/processes/parent-channel.ts';
import { boundReport } from '../bound-report.ts';
import { createChunkBuffer } from '../chunking/chunk-batch.ts';
import { createChunks } from '../chunking/create-chunks.ts';
import { cut } from '../cut-text.ts';
import type { ExtractedChunk, ReportedRow } from '../extraction.ts';
import { ExtractionError } from '../extraction-error.ts';
import type { ExtractionJob, ReportDraft } from '../extraction-job.ts';
import type { Picture, Recognition } from '../ocr/recognition.ts';
import {
  encodeMessage,
  type FromChild,
  type JobResult,
  longestMessage,
  mostBatchesSent,
  type ToChild,
} from './protocol.ts';

/**
 * The process that reads documents, one after another. It has no environment, no network, and no files except its own
 * program; documents come in by its channel and chunks go out by it. It exits when the channel closes.
 */
/** The limits of one message. */
const rowLimits = { items: 1_000, characters: 512 * 1024 };

// The server ends this process. A signal to the whole process group (Ctrl-C) must not fail the current document.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

let job: ExtractionJob | undefined;
let document = createDocument(0);
/** Callbacks that are called, in order, when the server has accepted a batch. */
const takers: Array<() => void> = [];
/** Receives what OCR has read on the picture that was sent last. */
let recognized: ((recognition: Recognition) => void) | undefined;
/** Bytes of a picture in one frame. */
const pieceBytes = 2 ** 20;

const channel = openParentChannel((kind, content) => {
  if (kind === frameKinds.message)
    receive(JSON.parse(content.toString()) as ToChild); // written by our own host
  else if (content.length > 0) document.add(content);
  else void work();
});

function receive(message: ToChild): void {
  if (message.type === 'next') takers.shift()?.();
  else if (message.type === 'recognized') recognized?.(message.recognition);
  else {
    job = message.job;
    document = createDocument(message.bytes);
  }
}

/** Collects bytes in one preallocated buffer. Joining pieces would need twice the memory. */
function createDocument(expected: number) {
  let buffer = Buffer.allocUnsafeSlow(expected);
  let length = 0;
  return {
    add: (piece: Buffer) => {
      if (length + piece.length > buffer.length) buffer = Buffer.concat([buffer], 2 * (length + piece.length));
      length += piece.copy(buffer, length);
    },
    bytes: () => buffer.subarray(0, length),
  };
}

/** Resolves when the message has left the process. */
function send(message: FromChild): Promise<void> {
  return channel.send(frameKinds.message, encodeMessage(message));
}

/** Has the server read a picture by OCR. One picture at a time. */
async function recognize({ gray, ...sizes }: Picture): Promise<Recognition> {
  const answer = Promise.withResolvers<Recognition>();
  recognized = answer.resolve;
  await send({ type: 'picture', ...sizes });
  for (let at = 0; at < gray.length; at += pieceBytes)
    await channel.send(frameKinds.bytes, gray.subarray(at, at + pieceBytes));
  return answer.promise;
}

async function work(): Promise<void> {
  if (job === undefined) return;
  const [current, bytes] = [job, document.bytes()];
  job = undefined;
  document = createDocument(0);
  const result = await run(current, bytes);
  const usage = process.cpuUsage();
  void send({ type: 'done', result, cpuSeconds: (usage.user + usage.system) / 1e6 });
}

async function run(current: ExtractionJob, bytes: Buffer): Promise<JobResult> {
  const started = performance.now();
  const report: ReportDraft = { format: current.format, warnings: [], milliseconds: 0 };
  const batches = createBatches();
  try {
    const counts = await createChunks({ job: current, bytes, sink: batches.sink, report, recognize });
    await batches.end();
    measure(report, started);
    boundReport(report);
    return { kind: 'extracted', ...counts, report };
  } catch (cause) {
    if (!(cause instanceof ExtractionError)) writeSync(2, `${cause instanceof Error ? cause.stack : String(cause)}\n`);
    // Rows read before the failure are sent too, because rejected rows explain why a sheet has no pair.
    if (cause instanceof ExtractionError) await batches.end();
    measure(report, started);
    boundReport(report);
    const failure = cause instanceof ExtractionError ? cause : new ExtractionError('parser_crashed');
    const { code, details } = failure;
    const message = cut(failure.message, longestMessage);
    return { kind: 'failed', code, message, details, report, unexpected: failure !== cause };
  }
}

function measure(report: ReportDraft, started: number): void {
  report.milliseconds = Math.round(performance.now() - started);
  report.peak_memory_bytes = process.resourceUsage().maxRSS * 1024;
}

/** Sends chunks in batches, and waits while the server has not accepted earlier ones. */
function createBatches() {
  const buffer = createChunkBuffer();
  let rows: ReportedRow[] = [];
  let characters = 0;
  let lastStage = '';
  const sent: Array<Promise<void>> = [];

  async function sendInTurn(message: FromChild): Promise<void> {
    while (sent.length >= mostBatchesSent) await sent.shift();
    sent.push(new Promise((resolve) => takers.push(resolve)));
    // Without waiting, unsent batches would accumulate in memory.
    await send(message);
  }

  function flushChunks(): Promise<void> | undefined {
    const chunks = buffer.take();
    return chunks.length === 0 ? undefined : sendInTurn({ type: 'chunks', chunks });
  }

  function flushRows(): Promise<void> | undefined {
    if (rows.length === 0) return undefined;
    const message = { type: 'rows', rows } as const;
    [rows, characters] = [[], 0];
    return sendInTurn(message);
  }

  async function end(): Promise<void> {
    await flushChunks();
    await flushRows();
    await Promise.all(sent);
  }

  const sink = {
    stage: (stage: 'parsing' | 'chunking', percent: number) => {
      if (`${stage} ${percent}` === lastStage) return;
      lastStage = `${stage} ${percent}`;
      void send({ type: 'stage', stage, percent });
    },
    chunk: (chunk: ExtractedChunk) => {
      if (buffer.add(chunk)) return undefined;
      const flushed = flushChunks();
      buffer.add(chunk);
      return flushed;
    },
    reportedRow: (row: ReportedRow) => {
      rows.push(row);
      characters += row.excerpt.length + row.fields.question.length + row.fields.answer.length;
      return characters >= rowLimits.characters || rows.length >= rowLimits.items ? flushRows() : undefined;
    },
  };
  return { sink, end };
}
