import { type MergedSegment, mergeSegments } from '../../stores/search/segments/merge-segments.ts';
import { decodeHeader } from '../../stores/search/segments/segment-reader.ts';
import type { SegmentSource } from './segment-source.ts';

export interface MergeParts {
  /** Ids of neighbouring segments, in their order. */
  readonly segments: readonly number[];
  readonly areFirst: boolean;
}

/** Pages of the merged segment, in order, and at the end its header. */
export interface MergeStep {
  readonly pages: readonly Uint8Array[];
  readonly merged: MergedSegment | null;
}

/** Merges segments in a thread, one step at a time. A new start abandons the merge in progress. */
export interface MergeSteps {
  start(parts: MergeParts): void;
  /** Returns at least `pages` further pages, or the last ones. */
  next(pages: number): MergeStep;
}

export function createMergeSteps(source: Pick<SegmentSource, 'readAhead' | 'readHeader' | 'readPage'>): MergeSteps {
  let merging: Generator<Uint8Array, MergedSegment, undefined> | undefined;
  const found = (bytes: Uint8Array | undefined): Uint8Array => {
    if (bytes === undefined) throw new MergeGone();
    return bytes;
  };
  return {
    start({ segments, areFirst }) {
      source.readAhead?.(segments);
      const parts = segments.map((id) => ({
        header: decodeHeader(found(source.readHeader(id))),
        readPage: (number: number) => found(source.readPage(id, number)),
      }));
      merging = mergeSegments(parts, { areFirst });
    },
    next(count) {
      const pages: Uint8Array[] = [];
      while (merging !== undefined && pages.length < count) {
        const step = merging.next();
        if (step.done === true) {
          merging = undefined;
          return { pages, merged: step.value };
        }
        pages.push(step.value);
      }
      return { pages, merged: null };
    },
  };
}

/** The collection was deleted while its segments were merged. */
class MergeGone extends Error {
  override readonly name = 'MergeGone';
  constructor() {
    super('a merged segment no longer exists');
  }
}
