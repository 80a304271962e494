import type { ChunkBatch, ExtractedChunk } from './extraction.ts';
import { createChunkPacker } from './packed-chunks.ts';

/** Chunks that fit into one batch. */
export function batchOf(...chunks: readonly ExtractedChunk[]): ChunkBatch {
  const packer = createChunkPacker();
  for (const chunk of chunks) if (!packer.add(chunk)) throw new Error('too much for a batch');
  const batch = packer.take();
  if (batch === undefined) throw new Error('a batch has at least one chunk');
  return batch;
}
