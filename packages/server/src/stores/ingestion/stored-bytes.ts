import { recordFailureCodes } from '../collections/records/record-failures.ts';
import type { ExtractedChunk, ExtractionSource, ReportedRow } from '../extraction/extraction.ts';

/**
 * Limits on the data stored for a record: its chunks with their places, metadata and terms, and its reported rows. The
 * text that counts is at most `textPerByte` for each byte of the source, because a sheet may repeat one text in each row.
 */
export const storedLimits = {
  bytes: 4 * 2 ** 20,
  bytesPerCharacter: 64,
  textPerByte: 8,
} as const;

/** The data of the record is too large in proportion to its text, or exceeds the quota of its project. */
export class StoredTooMuch extends Error {
  readonly failure;
  constructor(code: 'storage_limit' | 'quota_exceeded') {
    super(recordFailureCodes[code]);
    this.failure = { kind: 'failed', code, message: recordFailureCodes[code] } as const;
  }
}

export interface StoredBytes {
  /** @throws StoredTooMuch when the record would then exceed its bound */
  add(chunks: readonly ExtractedChunk[], rows: readonly ReportedRow[]): void;
}

/**
 * Counts the bytes stored for a record. The extractor is not trusted, so the text is counted by the chunks as well.
 */
export function countStoredBytes(source: ExtractionSource): StoredBytes {
  const sourceBytes = source.kind === 'text' ? Buffer.byteLength(source.text) : source.bytes;
  const mostText = storedLimits.textPerByte * sourceBytes;
  let bytes = 0;
  let text = 0;
  let textEnd = 0;
  return {
    add(chunks, rows) {
      for (const chunk of chunks) {
        bytes += bytesOf(chunk);
        const { char_start: start = 0, char_end: end = chunk.content.length + textEnd } = chunk.locator ?? {};
        // Overlapping chunks repeat a text.
        text += Math.min(chunk.content.length, Math.max(0, end - Math.max(start, textEnd)));
        textEnd = Math.max(textEnd, end);
        text += JSON.stringify(chunk.metadata).length;
      }
      for (const row of rows) {
        const characters = JSON.stringify(row);
        bytes += Buffer.byteLength(characters);
        text += characters.length;
      }
      if (bytes > storedLimits.bytes + storedLimits.bytesPerCharacter * Math.min(text, mostText)) {
        throw new StoredTooMuch('storage_limit');
      }
    },
  };
}

/** The content of a pair contains its answer. */
function bytesOf({ content, question, words, locator, metadata, boxes = [] }: ExtractedChunk): number {
  const texts = Buffer.byteLength(content) + Buffer.byteLength(question ?? '') + Buffer.byteLength(words);
  return texts + Buffer.byteLength(JSON.stringify([locator, metadata])) + JSON.stringify(boxes).length;
}
