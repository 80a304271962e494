import type { Locator } from '@quartermaster/contract';
import { parseJson } from '../kernel/parse-json.ts';
import { batchLimits, head, numberAt, numbers, openTable, perChunk } from './batch-table.ts';
import type { ChunkBatch, ExtractedChunk } from './extraction.ts';
import { type UnpackedChunk, unpackChunks } from './unpack-chunks.ts';

const bytesPerNumber = Int32Array.BYTES_PER_ELEMENT;

/** Collects chunks until there are as many as a batch may have. */
export interface ChunkPacker {
  /** @returns false when it does not fit into this batch: take that first. */
  add(chunk: ExtractedChunk): boolean;
  /** What was collected, and begins anew; undefined when that is nothing. */
  take(): ChunkBatch | undefined;
}

export function createChunkPacker(): ChunkPacker {
  let told: number[] = [];
  let texts: string[] = [];
  let words = 0;
  let characters = 0;

  return {
    add: (chunk) => {
      const metadata = JSON.stringify(chunk.metadata);
      const locator = chunk.locator === null ? undefined : JSON.stringify(chunk.locator);
      const { content, rowKey } = chunk;
      const length = [content, chunk.words, metadata, locator, rowKey].reduce(
        (sum, text) => sum + (text?.length ?? 0),
        0,
      );
      const isFull = told.length >= batchLimits.chunks * perChunk || words + chunk.words.length > batchLimits.words;
      if (told.length > 0 && (isFull || characters + length > batchLimits.characters)) return false;
      words += chunk.words.length;
      characters += length;
      // In the order of `numbers`.
      told.push(chunk.ordinal, chunk.numTokens, answerOf(chunk), content.length, chunk.words.length);
      told.push(metadata.length, locator?.length ?? -1, rowKey?.length ?? -1);
      texts.push(content, chunk.words, metadata);
      if (locator !== undefined) texts.push(locator);
      if (rowKey !== undefined) texts.push(rowKey);
      return true;
    },
    take: () => {
      if (told.length === 0) return undefined;
      const packed = pack(told, texts.join(''));
      [told, texts, words, characters] = [[], [], 0, 0];
      return openBatch(packed);
    },
  };
}

/** Where it begins within `content`. */
function answerOf({ content, answer }: ExtractedChunk): number {
  return answer === null ? -1 : content.length - answer.length;
}

const beyondLatin1 = /[^\0-\xff]/;

function pack(told: readonly number[], text: string): Buffer<ArrayBuffer> {
  const isWide = beyondLatin1.test(text);
  const start = (head + told.length) * bytesPerNumber;
  const packed = Buffer.allocUnsafeSlow(start + text.length * (isWide ? 2 : 1));
  new Int32Array(packed.buffer, 0, head + told.length).set([told.length / perChunk, isWide ? 1 : 0, ...told]);
  packed.write(text, start, isWide ? 'utf16le' : 'latin1');
  return packed;
}

/**
 * @param packed the whole of its ArrayBuffer, or aligned within it
 * @throws MalformedBatch when it is none, or is larger than one may be. Its texts are checked when they are read out.
 */
export function openBatch(packed: Uint8Array<ArrayBuffer>): ChunkBatch {
  const { table, count } = openTable(packed);
  let hasKeys = false;
  for (let at = head; at < table.length && !hasKeys; at += perChunk)
    hasKeys = numberAt(table, at + numbers.rowKey) >= 0;
  return {
    length: count,
    lastOrdinal: numberAt(table, table.length - perChunk + numbers.ordinal),
    hasKeys,
    packed,
    *[Symbol.iterator]() {
      for (const chunk of unpackChunks(packed)) yield toExtracted(chunk);
    },
  };
}

function toExtracted({ metadata, locator, rowKey, ...chunk }: UnpackedChunk): ExtractedChunk {
  return {
    ...chunk,
    metadata: parseJson(metadata) as Record<string, string>, // checked when it was unpacked, as is the locator
    locator: locator === null ? null : (parseJson(locator) as Locator),
    ...(rowKey === null ? {} : { rowKey }),
  };
}
