import { type BuiltSegment, type ChunkTerms, createSegmentBuilder } from './segment-builder.ts';
import type { SegmentChunks } from './segment-format.ts';
import { createSegmentWriter } from './segment-writer.ts';

export type { BuiltSegment, ChunkTerms } from './segment-builder.ts';

/** Builds a segment of the chunks. Each seq occurs once, in any order. */
export function buildSegment(added: readonly ChunkTerms[]): BuiltSegment {
  const builder = createSegmentBuilder();
  for (const chunk of [...added].sort((a, b) => a.seq - b.seq)) builder.add(chunk);
  return builder.build();
}

/** Builds the header of a segment that only removes chunks. It has no pages. */
export function buildRemovals(seqs: readonly number[]): Uint8Array {
  const none: SegmentChunks = { seqs: new Float64Array(0), lengths: new Uint16Array(0), haveFilterTerms: false };
  return createSegmentWriter(
    none,
    [...new Set(seqs)].sort((a, b) => a - b),
  ).end();
}
