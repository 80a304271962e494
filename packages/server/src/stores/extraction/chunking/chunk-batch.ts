import type { Locator } from '@quartermaster/contract';
import { placeLimits } from '../cut-text.ts';
import { contentOfPair, type ExtractedChunk } from '../extraction.ts';
import { pageLimits, type ScanBox } from '../page-protocol.ts';

/**
 * The maximum number of chunks, characters of `words` and characters of all texts in one transaction. Other writers
 * wait until it ends, about 50 ms. A chunk above a limit forms its own batch. `boxes` is the maximum for one chunk.
 */
export const batchLimits = { chunks: 1_000, words: 300_000, characters: 900_000, boxes: pageLimits.boxes } as const;

/** Collects chunks up to the limits of a batch. */
export interface ChunkBuffer {
  /** @returns false when the chunk does not fit; take the batch first. */
  add(chunk: ExtractedChunk): boolean;
  /** Returns the collected chunks and empties the buffer. */
  take(): readonly ExtractedChunk[];
}

export function createChunkBuffer(): ChunkBuffer {
  let chunks: ExtractedChunk[] = [];
  let [words, characters] = [0, 0];
  return {
    add: (chunk) => {
      const sum = { words: words + chunk.words.length, characters: characters + countCharacters(chunk) };
      const isFull = chunks.length === batchLimits.chunks || isTooLarge(sum);
      if (chunks.length > 0 && isFull) return false;
      chunks.push(chunk);
      ({ words, characters } = sum);
      return true;
    },
    take: () => {
      const batch = chunks;
      [chunks, words, characters] = [[], 0, 0];
      return batch;
    },
  };
}

function countCharacters({ content, words, metadata, locator, boxes = [], rowKey }: ExtractedChunk): number {
  const texts = content.length + words.length + JSON.stringify([metadata, locator]).length + (rowKey?.length ?? 0);
  return boxes.length === 0 ? texts : texts + JSON.stringify(boxes).length;
}

function isTooLarge({ words, characters }: { words: number; characters: number }): boolean {
  return words > batchLimits.words || characters > batchLimits.characters;
}

/**
 * Checks a batch from a child, which a malicious document may control.
 * @returns its chunks with well-formed texts, without U+0000, which PostgreSQL does not store
 * @throws TypeError when it is not a batch or exceeds the limits
 */
export function checkBatch(value: unknown): readonly ExtractedChunk[] {
  const isBatch = Array.isArray(value) && value.length > 0 && value.length <= batchLimits.chunks;
  if (!isBatch || !value.every(isChunk)) throw new TypeError('not a batch of chunks');
  const chunks: readonly ExtractedChunk[] = value;
  if (!chunks.every(({ ordinal }, at) => ordinal > (chunks[at - 1]?.ordinal ?? -1))) {
    throw new TypeError('the chunks of a batch are not in order');
  }
  const words = chunks.reduce((sum, chunk) => sum + chunk.words.length, 0);
  const characters = chunks.reduce((sum, chunk) => sum + countCharacters(chunk), 0);
  if (chunks.length > 1 && isTooLarge({ words, characters })) throw new TypeError('a batch is too large');
  return chunks.map(toStorable);
}

function isChunk(value: unknown): value is ExtractedChunk {
  if (!isObject(value)) return false;
  const { ordinal, numTokens, content, words, metadata, locator, boxes, rowKey } = value;
  return (
    [ordinal, numTokens].every(isCount) &&
    isText(content) &&
    isText(words) &&
    isPairOrText(value, content) &&
    isObject(metadata) &&
    Object.values(metadata).every(isText) &&
    (locator === null || isLocator(locator)) &&
    (boxes === undefined || isBoxes(boxes)) &&
    (rowKey === undefined || isText(rowKey))
  );
}

function isPairOrText({ question, answer }: Record<string, unknown>, content: string): boolean {
  if (isText(question) && isText(answer)) return content === contentOfPair(question, answer);
  return question === null && answer === null;
}

/** Every chunk of a part of a document has the same names in its locator, so they are short. */
const isPlace: Readonly<Record<keyof Locator, (value: unknown) => boolean>> = {
  page: isCount,
  page_end: isCount,
  heading_path: (value) =>
    isListOfTexts(value, placeLimits.headings, placeLimits.name) && value.join('').length <= placeLimits.headingPath,
  sheet: (value) => isTextUpTo(value, placeLimits.name),
  row: isCount,
  cells: (value) => isListOfTexts(value, 2, placeLimits.cell),
  char_start: isCount,
  char_end: isCount,
};

function isLocator(value: unknown): boolean {
  if (!isObject(value)) return false;
  return Object.entries(value).every(
    ([name, place]) => Object.hasOwn(isPlace, name) && isPlace[name as keyof Locator](place),
  ); // an own name
}

function isListOfTexts(value: unknown, most: number, longest: number): value is string[] {
  return Array.isArray(value) && value.length <= most && value.every((text) => isTextUpTo(text, longest));
}

export function isTextUpTo(value: unknown, longest: number): value is string {
  return typeof value === 'string' && value.length <= longest;
}

function isBoxes(value: unknown): value is readonly ScanBox[] {
  return Array.isArray(value) && value.length > 0 && value.length <= batchLimits.boxes && value.every(isScanBox);
}

function isScanBox(value: unknown): boolean {
  return Array.isArray(value) && value.length === 5 && isCount(value[0]) && value.every(Number.isFinite);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** The kernel has the same function, but the child may read this folder only. */
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function toStorable(chunk: ExtractedChunk): ExtractedChunk {
  const { ordinal, numTokens, content, question, answer, words, metadata, locator, boxes, rowKey } = chunk;
  return {
    ordinal,
    numTokens,
    content: storable(content),
    question: question === null ? null : storable(question),
    answer: answer === null ? null : storable(answer),
    words: storable(words),
    metadata: storableValues(metadata),
    locator: locator === null ? null : storableValues(locator),
    ...(boxes === undefined ? {} : { boxes }),
    ...(rowKey === undefined ? {} : { rowKey: storable(rowKey) }),
  };
}

function storableValues<Value extends object>(object: Value): Value {
  const entries = Object.entries(object).map(([name, value]) => [storable(name), storableValue(value)]);
  return Object.fromEntries(entries) as Value; // with the same names
}

function storableValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(storableValue);
  return isText(value) ? storable(value) : value;
}

/** Replaces characters that cannot be stored, without changing the length. */
function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}
