import type { ExtractedChunk } from '../extraction/extraction.ts';

/** What one transaction writes: other writers wait as long as it takes, some 50 ms for so many. See ADR 0047. */
const mostChunks = 1_000;
/** Of their words: some 35,000 of them. */
const mostCharacters = 300_000;

/** Cuts a batch into parts that one transaction takes; a chunk with more words than that goes alone. */
export function* inSlices(batch: readonly ExtractedChunk[]): Generator<readonly ExtractedChunk[]> {
  let slice: ExtractedChunk[] = [];
  let characters = 0;
  for (const chunk of batch) {
    if (slice.length > 0 && (slice.length === mostChunks || characters + chunk.words.length > mostCharacters)) {
      yield slice;
      slice = [];
      characters = 0;
    }
    slice.push(chunk);
    characters += chunk.words.length;
  }
  if (slice.length > 0) yield slice;
}
