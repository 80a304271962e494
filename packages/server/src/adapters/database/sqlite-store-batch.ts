import type { StatementSync } from 'node:sqlite';
import { type UnpackedChunk, unpackChunks } from '../../extraction/unpack-chunks.ts';
import type { IndexedChunk } from './full-text.ts';
import type { StoreBatch } from './sqlite-protocol.ts';
import { createTermWriter } from './sqlite-term-bytes.ts';
import { insertTermsInto, toIndexRow, toRowId, toTables } from './sqlite-terms.ts';

export type Prepare = (sql: string) => StatementSync;

/**
 * Reads chunks out of a batch and inserts them and their terms. It runs in the thread of the connection, so that the
 * event loop has nothing to do with them (ADR 0056). @throws MalformedBatch
 */
export function storeBatch(prepare: Prepare, batch: StoreBatch): void {
  const { collectionId, packed } = batch;
  const insertChunk = prepare(batch.sql);
  const indexed: IndexedChunk[] = [];
  for (const chunk of unpackChunks(packed)) {
    const { lastInsertRowid } = insertChunk.run(...valuesOf(chunk, batch, indexed.length));
    indexed.push({ seq: Number(lastInsertRowid), words: chunk.words });
  }
  // One table after the other: their pages stay in the processor's cache.
  const words = indexChunks(prepare, indexed, findNumber(prepare, collectionId));
  prepare('update full_text set chunks = chunks + ?, words = words + ? where collection_id = ?').run(
    indexed.length,
    words,
    collectionId,
  );
}

/** @returns how many words they have, repeats counted */
function indexChunks(prepare: Prepare, chunks: readonly IndexedChunk[], number: number): number {
  const { table, tag } = toTables(number);
  const insert = prepare(insertTermsInto(table));
  const writeTerms = createTermWriter(tag);
  let words = 0;
  for (const chunk of chunks) {
    const written = writeTerms(chunk.words);
    if (written === undefined) {
      const { values, length } = toIndexRow(chunk, tag);
      insert.run(...values);
      words += length;
    } else {
      insert.run(toRowId(chunk.seq, written.length), written.bytes);
      words += written.length;
    }
  }
  return words;
}

function valuesOf(chunk: UnpackedChunk, { ids, createdAt }: StoreBatch, at: number) {
  const { ordinal, content, question, answer, numTokens, metadata, locator, rowKey } = chunk;
  const start = [ids[at] ?? null, ordinal, content, question, answer, numTokens] as const;
  return [...start, metadata, locator, rowKey, createdAt, createdAt] as const;
}

function findNumber(prepare: Prepare, collectionId: string): number {
  const row = prepare('select number from full_text_place where collection_id = ?').get(collectionId);
  if (row === undefined) throw new Error(`the collection ${collectionId} has no full-text index`);
  return Number(row.number);
}
