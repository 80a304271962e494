import type { ExtractionOutcome, ExtractionTask, Extractor } from '../../extraction/extraction.ts';

/** A document that is being read. The test controls each step. */
export interface Reading {
  readonly task: ExtractionTask;
  readonly signal: AbortSignal;
  /** Delivers chunks with these contents. Resolves when they are stored. */
  give(...contents: string[]): Promise<void>;
  /** Completes the document. */
  end(): void;
  end(outcome: ExtractionOutcome): void;
  /** Lets the reader itself fail. */
  fail(error: Error): void;
}

export interface SteppedExtractor extends Extractor {
  /** Resolves with the next requested document. */
  next(): Promise<Reading>;
}

/** Creates an extractor that reads nothing itself. The test controls each step and can check the states in between. */
export function createSteppedExtractor(): SteppedExtractor {
  const started: Reading[] = [];
  const waiting: Array<(reading: Reading) => void> = [];
  return {
    next: async () => started.shift() ?? (await new Promise((resolve) => waiting.push(resolve))),
    async extract(task, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<ExtractionOutcome>();
      let ordinal = 0;
      signal.addEventListener('abort', () => resolve({ kind: 'cancelled' }), { once: true });
      const reading: Reading = {
        task,
        signal,
        give: async (...contents) => {
          const chunks = contents.map((content) => toChunk(content, ordinal++));
          await task.onBatch(chunks).catch((error: unknown) => {
            reject(error);
            throw error;
          });
        },
        end: (outcome: ExtractionOutcome = extracted(ordinal)) => resolve(outcome),
        fail: reject,
      };
      const waiter = waiting.shift();
      if (waiter === undefined) started.push(reading);
      else waiter(reading);
      return promise;
    },
    async close() {},
  };
}

export function extracted(numChunks: number, rejectedRows = 0): ExtractionOutcome {
  return { kind: 'extracted', numChunks, rejectedRows, report: { format: 'text', warnings: [], milliseconds: 1 } };
}

function toChunk(content: string, ordinal: number) {
  const words = content.split(' ');
  return {
    ordinal,
    content,
    question: null,
    answer: null,
    numTokens: words.length,
    locator: null,
    metadata: {},
    words: words.join(' '),
  };
}
