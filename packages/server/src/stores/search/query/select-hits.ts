import type { DistinctHit } from './find-distinct.ts';

/** The most bytes of an answer, as in a page of a list. A byte of JSON counts several times. */
export const maxAnswerWeight = 8 * 1024 * 1024;

export interface Selection {
  /** The id of the last chunk of the previous page. */
  readonly after?: string | undefined;
  readonly threshold: number;
  readonly maxItems: number;
  /** The limit for all items together. */
  readonly maxTokens: number;
}

export interface SelectedHits<Found> {
  readonly hits: readonly Found[];
  /** Whether others follow. */
  readonly hasMore: boolean;
  /** The tokens of the shortest result, if none fits into the limit. */
  readonly shortest?: number;
  /** What the page leaves of its limits. */
  readonly left: { readonly tokens: number; readonly weight: number };
}

/**
 * Selects one page of results in their order. A result that exceeds the remaining tokens is skipped; smaller ones after it may
 * still be taken. The page ends before the result that would make it too large.
 * @returns undefined when no result has the id of the cursor
 */
export function selectHits<Found extends DistinctHit<unknown>>(
  ranked: readonly Found[],
  { after, threshold, maxItems, maxTokens }: Selection,
): SelectedHits<Found> | undefined {
  const good = ranked.filter(({ hit }) => hit.score >= threshold);
  const start = after === undefined ? 0 : good.findIndex((each) => includes(each, after)) + 1;
  if (after !== undefined && start === 0) return undefined;
  const hits: Found[] = [];
  let [tokens, weight, end] = [maxTokens, maxAnswerWeight, start];
  for (const [index, found] of good.entries()) {
    if (index < start) continue;
    if (hits.length === maxItems) break;
    const { numTokens, weight: ofHit } = found.described;
    if (numTokens > tokens) continue;
    if (ofHit > weight && hits.length > 0) break;
    hits.push(found);
    tokens -= numTokens;
    weight -= ofHit;
    end = index + 1;
  }
  const shortest = Math.min(...good.slice(start).map(({ described }) => described.numTokens));
  const isTooLong = hits.length === 0 && good.length > start;
  return {
    hits,
    ...(isTooLong ? { shortest } : {}),
    hasMore: hits.length > 0 && end < good.length,
    left: { tokens, weight },
  };
}

function includes({ described, equals }: DistinctHit<unknown>, id: string): boolean {
  return described.id === id || equals.some((equal) => equal.id === id);
}
